package io.streamjoin.join.changelog

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.JoinType
import io.streamjoin.model.Side
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/**
 * The pseudo-code of the seed (Flink SQL's regular join, one record at a time) and its two
 * examples: an inner and a full outer join of inputs without unique keys. The changes that Flink
 * sends during a batch consolidate to the changes that this join emits at its end.
 */
class FlinkSeedSuite extends AnyFunSuite {
  import FlinkSeedSuite._

  private def join(joinType: JoinType) = TestChangelog(joinType, Layout.NoKey, Layout.NoKey)

  private def row(key: Int, value: Int): Row = Row(Some(key), 0, value)

  private def inserted(o: Out) = Changed(ChangeKind.Insert, o)
  private def deleted(o: Out) = Changed(ChangeKind.Delete, o)
  private def acc(r: Row) = Change(r, added = true)
  private def retract(r: Row) = Change(r, added = false)

  test("inner join: ACC emits pairs with all records of the other side, RETRACT deletes them") {
    val driver = new ChangelogDriver(join(JoinType.Inner))
    val (l, r1, r2) = (row(1, 10), row(1, 20), row(1, 21))
    // no match on the other side: no output
    assert(driver.batch(Seq(acc(l)), Nil).isEmpty)
    assert(driver.batch(Nil, Seq(acc(r1))) == Seq(inserted(Out(Some(l), Some(r1)))))
    // records that are equal are counted
    assert(driver.batch(Nil, Seq(acc(r1), acc(r2))).toSet ==
      Set(inserted(Out(Some(l), Some(r1))), inserted(Out(Some(l), Some(r2)))))
    assert(driver.stored(Right) == 3)
    // -[record, other] for each stored record
    assertSame(
      "deletes",
      driver.batch(Seq(retract(l)), Nil),
      Seq(
        deleted(Out(Some(l), Some(r1))),
        deleted(Out(Some(l), Some(r1))),
        deleted(Out(Some(l), Some(r2)))
      )
    )
    assert(driver.stored(Left) == 0)
  }

  test(
    "full outer join: deleting the last partner pads a row, the first partner deletes the padding"
  ) {
    val driver = new ChangelogDriver(join(JoinType.FullOuter))
    val (l, r1, r2) = (row(1, 10), row(1, 20), row(1, 21))
    // send +[record + null]
    assert(driver.batch(Seq(acc(l)), Nil) == Seq(inserted(Out(Some(l), None))))
    // send -[other + null], then +[other, record]
    assert(driver.batch(Nil, Seq(acc(r1))) ==
      Seq(deleted(Out(Some(l), None)), inserted(Out(Some(l), Some(r1)))))
    // a second partner does not change the padding
    assert(driver.batch(Nil, Seq(acc(r2))) == Seq(inserted(Out(Some(l), Some(r2)))))
    // matched num > 1: skip
    assert(driver.batch(Nil, Seq(retract(r1))) == Seq(deleted(Out(Some(l), Some(r1)))))
    // matched num == 1: send +[other + null]
    assert(driver.batch(Nil, Seq(retract(r2))) ==
      Seq(deleted(Out(Some(l), Some(r2))), inserted(Out(Some(l), None))))
    // the same from the other side
    assert(driver.batch(Seq(retract(l)), Seq(acc(r1))) ==
      Seq(deleted(Out(Some(l), None)), inserted(Out(None, Some(r1)))))
  }

  test("a partner inserted and deleted within a batch emits nothing") {
    val driver = new ChangelogDriver(join(JoinType.FullOuter))
    val (l, r) = (row(1, 10), row(1, 20))
    driver.batch(Seq(acc(l)), Nil)
    assert(driver.batch(Nil, Seq(acc(r), retract(r))).isEmpty)
    assert(driver.counters.rows(Right, Count.Cancelled) == 2)
  }

  test("a retraction of a row that is not stored is ignored and counted") {
    val driver = new ChangelogDriver(join(JoinType.FullOuter))
    assert(driver.batch(Seq(retract(row(1, 10))), Nil).isEmpty)
    assert(driver.counters.rows(Left, Count.Unknown) == 1)
  }

  for (joinType <- JoinType.all if !joinType.leftOnly)
    test(s"${joinType.name}: the output equals the consolidated changes of the pseudo-code") {
      RandomCases.forAll(300) { random =>
        val model = new PseudoCode(joinType, join(joinType))
        val driver = new ChangelogDriver(join(joinType))
        val held =
          Map[Side, mutable.ArrayBuffer[Row]](
            Left -> mutable.ArrayBuffer.empty[Row],
            Right -> mutable.ArrayBuffer.empty[Row]
          )
        for (_ <- 0 until 5) {
          val records = Seq.fill(random.nextInt(6))(record(random, held))
          def of(side: Side) = records.collect { case (`side`, c) => c }
          val sent = records.flatMap { case (side, c) => model.process(side, c) }
          withClue(onFailure(s"$records\n")) {
            assertSame(
              "output",
              driver.batch(of(Left), of(Right)).map(c => c.row -> c.kind.added),
              consolidated(sent)
            )
          }
        }
      }
    }

  private def record(random: Random, held: Map[Side, mutable.ArrayBuffer[Row]]) = {
    val side = if (random.nextBoolean()) Left else Right
    val rows = held(side)
    if (rows.nonEmpty && random.nextInt(3) == 0) {
      side -> retract(rows.remove(random.nextInt(rows.length)))
    } else {
      rows += row(random.nextInt(2), random.nextInt(3))
      side -> acc(rows.last)
    }
  }

  private def consolidated(sent: Seq[(Out, Int)]): Seq[(Out, Boolean)] =
    sent.groupMapReduce(_._1)(_._2)(_ + _).toSeq.flatMap { case (row, n) =>
      Seq.fill(math.abs(n))(row -> (n > 0))
    }
}

private object FlinkSeedSuite {

  /** The seed's pseudo-code, line by line. It sends a row with +1 or -1. */
  private final class PseudoCode(joinType: JoinType, join: TestChangelog) {

    private final class Record(val row: Row, var associated: Int)

    private val states = Map[Side, mutable.ArrayBuffer[Record]](
      Left -> mutable.ArrayBuffer.empty[Record],
      Right -> mutable.ArrayBuffer.empty[Record]
    )

    private def out(side: Side, own: Option[Row], other: Option[Row]): Out =
      if (side == Left) Out(own, other) else Out(other, own)

    def process(side: Side, change: Change[Row]): Seq[(Out, Int)] = {
      val (state, otherState, row) = (states(side), states(side.other), change.row)
      val (isOuter, otherIsOuter) = (joinType.preserves(side), joinType.preserves(side.other))
      val sent = mutable.ArrayBuffer.empty[(Out, Int)]
      if (!change.added) state.remove(state.indexWhere(_.row == row))
      val matched = otherState.filter { o =>
        if (side == Left) join.matches(row, o.row) else join.matches(o.row, row)
      }
      val sign = if (change.added) 1 else -1
      if (matched.isEmpty) {
        if (isOuter) sent += out(side, Some(row), None) -> sign
      } else {
        matched.foreach { o =>
          if (otherIsOuter) {
            if (change.added && o.associated == 0) sent += out(side, None, Some(o.row)) -> -1
            if (!change.added && o.associated == 1) sent += out(side, None, Some(o.row)) -> 1
          }
          o.associated += sign
          sent += out(side, Some(row), Some(o.row)) -> sign
        }
      }
      if (change.added) state += new Record(row, matched.length)
      sent.toSeq
    }
  }
}
