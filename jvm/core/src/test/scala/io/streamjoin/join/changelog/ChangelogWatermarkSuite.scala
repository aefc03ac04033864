package io.streamjoin.join.changelog

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/**
 * Changelog joins with watermarks: right.time BETWEEN left.time AND left.time + 3. After each
 * batch, the result is the join of the tables that the changes that were not late give.
 */
class ChangelogWatermarkSuite extends AnyFunSuite {

  private def join(joinType: JoinType, layout: Layout = Layout.NoKey) =
    TestChangelog(joinType, layout, layout, within = Some(3L))

  private def row(value: Int, time: Long) = Row(Some(1), 0, value, time = time)
  private def insert(r: Row) = Change(r, added = true)
  private def delete(r: Row) = Change(r, added = false)
  private def out(l: Row, r: Row) = Out(Some(l), Some(r))

  test("a row stays stored until neither it nor a partner can change") {
    val d = new ChangelogDriver(join(JoinType.LeftOuter))
    val (l, r) = (row(1, 10), row(2, 12))
    assert(d.batch(Seq(insert(l)), Seq(insert(r))) == Seq(Changed(ChangeKind.Insert, out(l, r))))
    // no future partner of the left row can arrive, but the row itself can be deleted
    d.advance(Array(10, 14))
    assert(d.stored(Left) == 1 && d.stored(Right) == 1)
    val deleted = d.batch(Seq(delete(l)), Nil)
    assert(deleted == Seq(Changed(ChangeKind.Delete, out(l, r))))
    assert(d.stored(Left) == 0)
    d.advance(Array(13, 14))
    assert(d.stored(Right) == 0)
    assert(d.counters.rows(Right, Count.Evicted) == 1)
  }

  test("a change of any kind is late if the time of its row is late") {
    val d = new ChangelogDriver(join(JoinType.LeftOuter))
    val l = row(1, 10)
    d.batch(Seq(insert(l)), Nil)
    d.advance(Array(11, 0))
    assert(d.batch(Seq(delete(l), insert(row(3, 10))), Nil).isEmpty)
    assert(d.counters.rows(Left, Count.Late) == 2 && d.counters.rows(Left, Count.Input) == 3)
    // a partner can still correct its result
    val r = row(2, 13)
    assert(d.batch(Nil, Seq(insert(r))) ==
      Seq(Changed(ChangeKind.Delete, Out(Some(l), None)), Changed(ChangeKind.Insert, out(l, r))))
  }

  test("a delete without the time of its row is late if the stored row is") {
    for (joinType <- Seq(JoinType.Inner, JoinType.LeftOuter)) {
      val d = new ChangelogDriver(join(joinType, Layout.OneAKey))
      val (l, r) = (row(1, 10), row(2, 12))
      d.batch(Seq(insert(l)), Seq(insert(r)))
      d.advance(Array(13, 13))
      assert(d.stored(Left) == 1 && d.stored(Right) == 0)
      assert(d.batch(Seq(delete(l.copy(value = 0, time = Long.MaxValue))), Nil).isEmpty)
      assert(d.counters.rows(Left, Count.Late) == 1 && d.counters.rows(Left, Count.Input) == 2)
      assert(d.stored(Left) == 1)
      val later = row(3, 13)
      assert(d.batch(Nil, Seq(insert(later))) ==
        Seq(Changed(ChangeKind.Insert, out(l, later))))
    }
  }

  test("a stored row keeps the match of an evicted partner and is not padded") {
    val d = new ChangelogDriver(join(JoinType.RightOuter))
    val (l1, l2, r) = (row(1, 10), row(2, 12), row(3, 12))
    d.batch(Seq(insert(l1), insert(l2)), Seq(insert(r)))
    d.advance(Array(11, 14))
    assert(d.stored(Left) == 1)
    assert(d.batch(Seq(delete(l2)), Nil) == Seq(Changed(ChangeKind.Delete, out(l2, r))))
  }

  test("a row whose partner was evicted retracts no row without a partner when it expires") {
    for (joinType <- Seq(JoinType.LeftOuter, JoinType.LeftAnti)) {
      val d = new ChangelogDriver(join(joinType).copy(expiry = Expiry.Retract))
      val partnered = row(1, 10).copy(expires = 20)
      val alone = partnered.copy(join = Some(2))
      d.at(0)
      d.batch(Seq(insert(partnered), insert(alone)), Seq(insert(row(2, 12))))
      d.advance(Array(13, 13))
      assert(d.stored(Left) == 2 && d.stored(Right) == 0)
      d.at(21)
      val shown = alone.copy(expires = Long.MaxValue)
      assert(d.batch(Nil, Nil) == Seq(Changed(ChangeKind.Delete, Out(Some(shown), None))))
    }
  }

  /** A table whose rows keep their time in updates, and its changes, of which some are late. */
  private final class Table(join: TestChangelog, side: Side, random: Random) {
    private val layout = join.layout(side)
    private val rows = mutable.ArrayBuffer.empty[Row]
    private var now = 10L
    private var sequence = 0
    private val timeOf = mutable.HashMap.empty[Int, Long]

    /** The table that the changes that were not late give. */
    val known: mutable.ArrayBuffer[Row] = mutable.ArrayBuffer.empty

    def largest: Long = now

    def change(): Seq[Change[Row]] = {
      now += random.nextInt(2)
      sequence += 1
      val keyed = layout != Layout.NoKey
      val at = if (keyed) sequence else 0
      if (rows.nonEmpty && random.nextInt(2) == 0) {
        val i = random.nextInt(rows.length)
        val before = rows(i).copy(sequence = at)
        if (random.nextBoolean()) {
          rows.remove(i)
          Seq(delete(before))
        } else {
          val after = before.copy(value = random.nextInt(8))
          rows(i) = after
          Seq(delete(before), insert(after))
        }
      } else {
        val time = now - random.nextInt(4)
        val key = if (random.nextInt(8) == 0) None else Some(random.nextInt(2))
        // a unique key has one time
        val fresh = layout match {
          case Layout.OneAKey =>
            val k = sequence / 6
            Row(Some(k), 0, random.nextInt(8), at, time = timeOf.getOrElseUpdate(k, time))
          case _ => Row(key, sequence, random.nextInt(8), at, time = time)
        }
        if (layout == Layout.OneAKey && rows.exists(_.join == fresh.join)) Nil
        else {
          rows += fresh
          Seq(insert(fresh))
        }
      }
    }

    private def same(a: Row, b: Row): Boolean =
      if (layout == Layout.NoKey) a == b else a.join == b.join && a.unique == b.unique

    def learn(changes: Seq[Change[Row]]): Unit =
      for (c <- changes if !join(side).late(c.row)) {
        val i = known.indexWhere(same(_, c.row))
        // with a key, a change replaces the row; without, each change counts
        if (i >= 0 && (!c.added || layout != Layout.NoKey)) known.remove(i)
        if (c.added) known += c.row
      }
  }

  private def shown(rows: Seq[Out]): Seq[Out] = rows.map { o =>
    Out(o.left.map(_.copy(sequence = 0)), o.right.map(_.copy(sequence = 0)))
  }

  for (joinType <- JoinType.all; segments <- Seq(false, true)) {
    val where = if (segments) "in segments" else "on the heap"
    test(s"${joinType.name}, $where: equals the join without late changes, and evicts all rows") {
      var (late, evicted, changesOut) = (0L, 0L, 0L)
      RandomCases.forAll(200) { random =>
        def layout() = Layout.all(random.nextInt(3))
        val join = TestChangelog(
          joinType,
          layout(),
          layout(),
          random.nextBoolean(),
          random.nextBoolean(),
          Some(random.nextInt(4).toLong),
          selective = random.nextInt(4) == 0,
          hashes = if (random.nextBoolean()) 1 else 1 << 20
        )
        val memory = if (random.nextBoolean()) Long.MaxValue else 1L
        val driver = new ChangelogDriver(join, segments, memory = memory)
        val (l, r) = (new Table(join, Left, random), new Table(join, Right, random))
        val lags = Array.fill(2)(random.nextInt(8).toLong)
        val table = mutable.HashMap.empty[Out, Int]
        val history = mutable.ArrayBuffer.empty[Any]
        withClue(onFailure(s"$join\n${history.mkString("\n")}\n")) {
          for (_ <- 0 until 1 + random.nextInt(12)) {
            val left = Seq.fill(random.nextInt(5))(l.change()).flatten
            val right = Seq.fill(random.nextInt(5))(r.change()).flatten
            history += ((join.watermarks.toSeq, left, right))
            l.learn(left)
            r.learn(right)
            ChangelogCases.failOrRestart(driver, left, right, random)
            val out = driver.batch(random.shuffle(left), random.shuffle(right))
            history += out
            for (c <- out) {
              val n = table.getOrElse(c.row, 0) + (if (c.kind.added) 1 else -1)
              if (n == 0) table.remove(c.row) else table(c.row) = n
              assert(n >= 0, s"$c was never inserted")
            }
            val listed = table.toSeq.flatMap { case (o, n) => Seq.fill(n)(o) }
            assertSame("table", listed, shown(join.result(l.known.toSeq, r.known.toSeq)))
            driver.advance(Array(l.largest - lags(0), r.largest - lags(1)))
          }
          driver.advance(Array(1000, 1000))
          assert(driver.stored(Left) == 0 && driver.stored(Right) == 0)
          for (side <- Side.both) {
            late += driver.counters.rows(side, Count.Late)
            evicted += driver.counters.rows(side, Count.Evicted)
          }
          changesOut += driver.counters.rows(Count.Emitted)
          driver.close()
        }
      }
      if (RandomCases.all) assert(late > 500 && evicted > 500 && changesOut > 100)
    }
  }
}
