package io.streamjoin.join.changelog

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/** Many rows of one join key, few of which satisfy the residual condition. */
class HotKeySuite extends AnyFunSuite {
  import ChangelogCases._

  /** @param value rows match if their thirds have equal parity */
  private def row(unique: Int, value: Int, sequence: Int = 0) =
    Row(Some(1), unique, value, sequence)

  private def insert(rows: Row*) = rows.map(Change(_, added = true))
  private def delete(rows: Row*) = rows.map(Change(_, added = false))

  for (
    joinType <- Seq(JoinType.LeftOuter, JoinType.FullOuter, JoinType.LeftSemi, JoinType.LeftAnti)
  )
    test(
      s"${joinType.name}: a change of the only partner of many rows evaluates each row once"
    ) {
      val rows = 1000
      val join = TestChangelog(joinType, Layout.UniqueKey, Layout.UniqueKey, residual = true)
      val driver = new ChangelogDriver(join)
      // left rows and the one right row that matches them, among as many that match none
      driver.batch(
        insert((1 to rows).map(row(_, 0)): _*),
        insert((1 to rows).map(row(_, 3)): _*)
      )
      val partner = row(0, 0)
      // the first change counts the partners
      driver.batch(Nil, insert(partner))
      for (turn <- 1 to 6) {
        join.evaluations = 0
        val out = driver.batch(Nil, if (turn % 2 == 1) delete(partner) else insert(partner))
        assert(out.flatMap(_.row.left).distinct.length == rows)
        assert(join.evaluations <= rows + 1, s"turn $turn")
      }
      // a probe counts the partners of a new row; a deleted row invalidates no counts
      driver.batch(insert(row(rows + 1, 0), row(rows + 2, 6)), Nil)
      driver.batch(delete(row(7, 0)), Nil)
      join.evaluations = 0
      driver.batch(Nil, delete(partner))
      assert(join.evaluations <= rows + 4)
    }

  for (joinType <- Seq(JoinType.LeftOuter, JoinType.LeftSemi, JoinType.LeftAnti))
    test(s"${joinType.name}: partners of many rows that keep one of two are counted once") {
      val rows = 1000
      val join = TestChangelog(joinType, Layout.UniqueKey, Layout.UniqueKey, residual = true)
      val driver = new ChangelogDriver(join)
      // the partner that stays is behind the others in the state
      val (partner, staying) = (row(0, 0), row(3 * rows + 2, 0))
      driver.batch(
        insert((1 to rows).map(row(_, 0)): _*),
        insert((1 to rows).map(row(_, 3)) :+ partner :+ staying: _*)
      )
      driver.batch(Nil, delete(partner))
      for (turn <- 1 to 4) {
        join.evaluations = 0
        driver.batch(Nil, if (turn % 2 == 1) insert(partner) else delete(partner))
        assert(join.evaluations <= rows + 1, s"turn $turn")
      }
    }

  for (segments <- Seq(false, true))
    test(s"an expired partner does not count any more, segments: $segments") {
      val rows = 100
      val join =
        TestChangelog(JoinType.LeftOuter, Layout.UniqueKey, Layout.UniqueKey, residual = true)
      val driver = new ChangelogDriver(join, segments)
      val (expiring, staying) = (row(0, 0).copy(expires = 10), row(-1, 0))
      driver.at(0)
      driver.batch(
        insert((1 to rows).map(row(_, 0)): _*),
        insert((1 to rows).map(row(_, 3)): _*)
      )
      // the first change counts the partners
      driver.batch(Nil, insert(expiring))
      driver.batch(Nil, insert(staying))
      driver.at(11)
      val out = driver.batch(Nil, delete(staying))
      assert(out.count(_.row.right.isEmpty) == rows && out.length == 2 * rows)
    }

  test("remembered partner counts do not change the output and save evaluations") {
    var remembered = 0
    RandomCases.forAll(40) { random =>
      val joinType = JoinType.all(random.nextInt(JoinType.all.length))
      val layouts = Seq.fill(2)(if (random.nextBoolean()) Layout.UniqueKey else Layout.NoKey)
      val selective = random.nextInt(4) == 0
      val expiry = if (random.nextBoolean()) Expiry.Keep else Expiry.Retract
      def join() = TestChangelog(
        joinType,
        layouts.head,
        layouts.last,
        residual = true,
        selective = selective,
        hashes = 1,
        expiry = expiry
      )
      val (one, other) = (join(), join())
      val driver = new ChangelogDriver(one, segments = random.nextBoolean())
      // the same without remembered partner counts
      val plain = new ChangelogDriver(other, remembers = false)
      val table = mutable.HashMap.empty[Out, Int]
      val history = mutable.ArrayBuffer.empty[Any]
      val rows = Side.both.map(_ -> mutable.ArrayBuffer.empty[Row]).toMap
      var next = 0
      def change(side: Side, now: Long): Seq[Change[Row]] = {
        val own = rows(side)
        if (own.nonEmpty && random.nextInt(3) == 0)
          Seq(Change(own.remove(random.nextInt(own.length)), added = false))
        else {
          next += 1
          val expires = if (random.nextInt(4) == 0) now + random.nextInt(4) else Long.MaxValue
          val usual = (side == Side.Left) == (random.nextInt(8) > 0)
          val value = 6 * random.nextInt(4) + (if (usual) 0 else 3)
          val row = Row(Some(random.nextInt(2)), next, value, expires = expires)
          own += row
          insert(row)
        }
      }
      withClue(onFailure(s"$one\n${history.mkString("\n")}\n")) {
        for (now <- 1L to 12L) {
          Seq(driver, plain).foreach(_.at(now))
          for (side <- Side.both) rows(side).filterInPlace(_.expires >= now)
          def some(side: Side) =
            Seq.fill(if (now == 1) 150 else random.nextInt(6))(change(side, now)).flatten
          val (left, right) = (some(Side.Left), some(Side.Right))
          history += left -> right
          val out = driver.batch(left, right)
          assertSame("changes", out, plain.batch(left, right))
          if (expiry == Expiry.Retract) fold(table, out)
        }
        if (one.evaluations < other.evaluations) remembered += 1
      }
    }
    if (RandomCases.all) assert(remembered > 3)
  }
}
