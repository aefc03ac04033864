package io.streamjoin.join.changelog

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType
import io.streamjoin.model.Side.{Left, Right}

/** Rows that leave the state by their age: their results stay, and nothing comes out twice. */
class ExpirySuite extends AnyFunSuite {

  private def row(value: Int, expires: Long = Long.MaxValue, sequence: Int = 0): Row =
    Row(Some(1), 1, value, sequence, expires)
  private def acc(r: Row) = Change(r, added = true)
  private def retract(r: Row) = Change(r, added = false)
  private def shown(r: Row): Option[Row] = Some(r.copy(expires = Long.MaxValue, sequence = 0))

  private def driver(joinType: JoinType, layout: Layout = Layout.NoKey) =
    new ChangelogDriver(TestChangelog(joinType, layout, layout))

  test("a row goes when the clock has passed its limit, and takes nothing back") {
    val d = driver(JoinType.Inner)
    d.at(0)
    d.batch(Seq(acc(row(2, expires = 10))), Seq(acc(row(4))))
    d.at(10)
    assert(d.stored(Left) == 1)
    d.at(11)
    assert(d.stored(Left) == 0)
    assert(d.counters.rows(Left, ChangelogCounters.Expired) == 1)
    assert(d.batch(Nil, Seq(acc(row(6)))).isEmpty)
  }

  test("no pad is taken back that never came out") {
    val d = driver(JoinType.LeftOuter)
    d.at(0)
    d.batch(Seq(acc(row(2))), Seq(acc(row(4, expires = 10))))
    d.at(11)
    assert(d.stored(Right) == 0)
    // the left row was never padded
    assert(d.batch(Nil, Seq(acc(row(6)))) ==
      Seq(Changed(ChangeKind.Insert, Out(shown(row(2)), shown(row(6))))))
    assert(d.batch(Nil, Seq(retract(row(6)))) ==
      Seq(Changed(ChangeKind.Delete, Out(shown(row(2)), shown(row(6))))))
    assert(d.batch(Seq(retract(row(2))), Nil).isEmpty)
  }

  test("a semi join gives no left row twice, and takes back the one it gave") {
    val d = driver(JoinType.LeftSemi)
    d.at(0)
    d.batch(Seq(acc(row(2))), Seq(acc(row(4, expires = 10))))
    d.at(11)
    assert(d.batch(Nil, Seq(acc(row(6)))).isEmpty)
    assert(d.batch(Nil, Seq(retract(row(6)))).isEmpty)
    assert(d.batch(Seq(retract(row(2))), Nil) ==
      Seq(Changed(ChangeKind.Delete, Out(shown(row(2)), None))))
  }

  test("a row that goes and comes back is a new one in two batches, and has not gone in one") {
    def table(joinType: JoinType, batches: Seq[Change[Row]]*): Seq[Changed[Out]] = {
      val d = driver(joinType)
      d.at(0)
      d.batch(Seq(acc(row(2))), Seq(acc(row(4, expires = 10))))
      d.at(11)
      batches.flatMap(d.batch(_, Nil))
    }
    val (alone, gone, back) = (Out(shown(row(2)), None), retract(row(2)), acc(row(2)))
    assert(table(JoinType.LeftOuter, Seq(gone, back)).isEmpty)
    assert(table(
      JoinType.LeftOuter,
      Seq(gone),
      Seq(back)
    ) == Seq(Changed(ChangeKind.Insert, alone)))
    assert(table(JoinType.LeftAnti, Seq(gone), Seq(back)) == Seq(Changed(ChangeKind.Insert, alone)))
    assert(table(JoinType.LeftSemi, Seq(gone, back)).isEmpty)
    assert(table(JoinType.LeftSemi, Seq(gone), Seq(back)) == Seq(Changed(ChangeKind.Delete, alone)))
  }

  test("a write of the same row begins its time anew") {
    val d = driver(JoinType.LeftSemi, Layout.UniqueKey)
    d.at(0)
    d.batch(Seq(acc(row(2, expires = 10, sequence = 1))), Nil)
    d.at(5)
    d.batch(Seq(acc(row(2, expires = 15, sequence = 1))), Nil)
    d.at(12)
    assert(d.stored(Left) == 1)
    d.at(16)
    assert(d.stored(Left) == 0)
  }

  test("a write of the same row is told where rows above age by it, a stale one is not") {
    for (reports <- Seq(false, true)) {
      val d = new ChangelogDriver(
        TestChangelog(JoinType.LeftAnti, Layout.UniqueKey, Layout.UniqueKey, reports = reports)
      )
      d.at(0)
      def write(expires: Long, sequence: Int) =
        d.batch(Seq(acc(row(2, expires, sequence))), Nil).map(_.kind)
      assert(write(10, 2) == Seq(ChangeKind.Insert))
      d.at(5)
      val told = if (reports) Seq(ChangeKind.Preimage, ChangeKind.Postimage) else Nil
      assert(write(15, 2) == told && write(20, 3) == told)
      assert(write(25, 1).isEmpty)
      // of images that cancel each other the row is written, too
      val same = row(2, 30, 4)
      assert(d.batch(Seq(retract(same), acc(same)), Nil).map(_.kind) == told)
      d.at(29)
      assert(d.stored(Left) == 1)
      d.at(31)
      assert(d.stored(Left) == 0 && write(40, 5) == Seq(ChangeKind.Insert))
    }
  }

  test("an older change of a key that is gone is stale while its age lasts") {
    val d = driver(JoinType.LeftOuter, Layout.UniqueKey)
    d.at(0)
    val old = row(2, sequence = 1).copy(expires = 10)
    d.batch(Seq(acc(old)), Nil)
    assert(d.batch(Seq(retract(old.copy(sequence = 3, expires = 10))), Nil).length == 1)
    assert(d.batch(Seq(acc(old.copy(sequence = 2)), retract(old.copy(sequence = 2))), Nil).isEmpty)
    assert(d.batch(Seq(acc(old)), Nil).isEmpty)
    assert(d.counters.rows(Left, ChangelogCounters.Stale) == 3)
    // what goes before it came may have expired, as far as anybody knows
    val early = old.copy(unique = 5, sequence = 8)
    assert(d.batch(Seq(retract(early)), Nil) ==
      Seq(Changed(ChangeKind.Delete, Out(shown(early), None))))
    assert(d.batch(Seq(retract(early.copy(sequence = 9))), Nil).isEmpty)
    assert(d.batch(Seq(acc(old.copy(unique = 5, sequence = 7))), Nil).isEmpty)
    // a later change makes the row new
    assert(d.batch(Seq(acc(old.copy(sequence = 4))), Nil).length == 1)
    d.at(11)
    assert(d.stored(Left) == 0)
    assert(d.batch(Seq(acc(old.copy(expires = 20))), Nil).length == 1)
  }

  test("a change older than the row that is held is counted, and changes nothing") {
    val d = driver(JoinType.LeftAnti, Layout.UniqueKey)
    d.batch(Seq(acc(row(2, sequence = 5))), Nil)
    assert(d.batch(Seq(acc(row(4, sequence = 4)), retract(row(4, sequence = 3))), Nil).isEmpty)
    assert(d.counters.rows(Left, ChangelogCounters.Stale) == 2)
    assert(d.stored(Left) == 1)
  }

  test("of equal rows the one goes that would leave first") {
    for (segments <- Seq(false, true)) {
      val join = TestChangelog(JoinType.Inner, Layout.NoKey, Layout.NoKey, aging = true)
      val d = new ChangelogDriver(join, segments)
      d.at(0)
      d.batch(Seq(acc(row(2, expires = 10))), Nil)
      d.batch(Seq(acc(row(2, expires = 30))), Nil)
      d.batch(Seq(acc(row(2, expires = 20))), Nil)
      d.batch(Seq(retract(row(2, expires = 40))), Nil)
      assert(d.rows(Left).map(_._1.expires).sorted == Seq(20, 30))
      // one that goes and comes is a younger one
      d.batch(Seq(retract(row(2, expires = 40)), acc(row(2, expires = 40))), Nil)
      assert(d.rows(Left).map(_._1.expires).sorted == Seq(30, 40))
    }
  }

  test("of rows that leave together, first one that has lost no partner by age") {
    for (joinType <- Seq(JoinType.LeftOuter, JoinType.LeftAnti); segments <- Seq(false, true)) {
      val d = new ChangelogDriver(TestChangelog(joinType, Layout.NoKey, Layout.NoKey), segments)
      d.at(0)
      d.batch(Seq(acc(row(2))), Seq(acc(row(4, expires = 10))))
      d.at(11)
      val alone = Out(shown(row(2)), None)
      assert(d.batch(Seq(acc(row(2))), Nil) == Seq(Changed(ChangeKind.Insert, alone)))
      assert(d.batch(Seq(retract(row(2))), Nil) == Seq(Changed(ChangeKind.Delete, alone)))
      assert(d.rows(Left) == Seq(row(2) -> true))
    }
  }

  test("a row that can match nothing tells of its key all the same") {
    val join =
      TestChangelog(JoinType.Inner, Layout.UniqueKey, Layout.UniqueKey, filtered = true)
    val d = new ChangelogDriver(join)
    d.batch(Seq(acc(row(3, sequence = 5))), Seq(acc(row(2, sequence = 1))))
    assert(d.batch(Seq(acc(row(2, sequence = 4))), Nil).isEmpty)
    assert(d.counters.rows(Left, ChangelogCounters.Stale) == 1)
    assert(d.batch(Seq(acc(row(2, sequence = 6))), Nil).length == 1)
    assert(d.batch(Seq(acc(row(3, sequence = 7))), Nil).length == 1)
    assert(d.batch(Seq(acc(row(2, sequence = 6))), Nil).isEmpty)
    assert(d.counters.rows(Left, ChangelogCounters.Stale) == 2)
  }

  test("an update that changes nothing is a later one all the same") {
    val d = driver(JoinType.LeftOuter, Layout.UniqueKey)
    d.batch(Seq(acc(row(2, sequence = 1))), Nil)
    assert(d.batch(Seq(retract(row(2, sequence = 5)), acc(row(2, sequence = 5))), Nil).isEmpty)
    assert(d.batch(Seq(acc(row(4, sequence = 3))), Nil).isEmpty)
    assert(d.counters.rows(Left, ChangelogCounters.Stale) == 1)
  }
}
