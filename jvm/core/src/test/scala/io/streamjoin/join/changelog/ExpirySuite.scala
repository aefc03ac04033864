package io.streamjoin.join.changelog

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.JoinType
import io.streamjoin.model.Side.{Left, Right}

/** Rows that expire by TTL. [[AgingModelSuite]] compares random ones with a model. */
class ExpirySuite extends AnyFunSuite {

  private def row(value: Int, expires: Long = Long.MaxValue, sequence: Int = 0): Row =
    Row(Some(1), 1, value, sequence, expires)
  private def acc(r: Row) = Change(r, added = true)
  private def retract(r: Row) = Change(r, added = false)
  private def shown(r: Row): Option[Row] = Some(r.copy(expires = Long.MaxValue, sequence = 0))

  private def driver(joinType: JoinType, layout: Layout = Layout.NoKey, aging: Boolean = false) =
    new ChangelogDriver(TestChangelog(joinType, layout, layout, aging = aging))

  test("a row expires when the clock exceeds its limit, and retracts nothing") {
    val d = driver(JoinType.Inner)
    d.at(0)
    d.batch(Seq(acc(row(2, expires = 10))), Seq(acc(row(4))))
    d.at(10)
    assert(d.stored(Left) == 1)
    d.at(11)
    assert(d.stored(Left) == 0)
    assert(d.counters.rows(Left, Count.Expired) == 1)
    assert(d.batch(Nil, Seq(acc(row(6)))).isEmpty)
  }

  test("after an expiry, changes are computed as if the expired row had never been there") {
    val d = driver(JoinType.LeftOuter)
    d.at(0)
    d.batch(Seq(acc(row(2))), Seq(acc(row(4, expires = 10))))
    d.at(11)
    val alone = Out(shown(row(2)), None)
    val joined = Out(shown(row(2)), shown(row(6)))
    assert(d.batch(Nil, Seq(acc(row(6)))) ==
      Seq(Changed(ChangeKind.Delete, alone), Changed(ChangeKind.Insert, joined)))
    assert(d.batch(Nil, Seq(retract(row(6)))) ==
      Seq(Changed(ChangeKind.Delete, joined), Changed(ChangeKind.Insert, alone)))
    assert(d.batch(Seq(retract(row(2))), Nil) == Seq(Changed(ChangeKind.Delete, alone)))
  }

  test("a row deleted and inserted unchanged is new in two batches, and unchanged in one") {
    def table(joinType: JoinType, batches: Seq[Change[Row]]*): Seq[Changed[Out]] = {
      val d = driver(joinType)
      d.at(0)
      d.batch(Seq(acc(row(2))), Seq(acc(row(4, expires = 10))))
      d.at(11)
      batches.flatMap(d.batch(_, Nil))
    }
    val (alone, gone, back) = (Out(shown(row(2)), None), retract(row(2)), acc(row(2)))
    val both = Seq(Changed(ChangeKind.Delete, alone), Changed(ChangeKind.Insert, alone))
    for (joinType <- Seq(JoinType.LeftOuter, JoinType.LeftAnti)) {
      assert(table(joinType, Seq(gone, back)).isEmpty)
      assert(table(joinType, Seq(gone), Seq(back)) == both)
    }
  }

  test("a live row whose partner has expired is deleted by its key, if the key has the result") {
    val deleted = Seq(Changed(ChangeKind.Delete, Out(shown(row(2)), None)))
    for (
      joinType <- JoinType.all;
      (left, right, identifies) <- Seq(
        (Layout.UniqueKey, Layout.OneAKey, true),
        (Layout.UniqueKey, Layout.UniqueKey, false),
        (Layout.NoKey, Layout.NoKey, false)
      )
    ) withClue(s"$joinType, $left, $right: ") {
      val d = new ChangelogDriver(TestChangelog(joinType, left, right))
      d.at(0)
      d.batch(Seq(acc(row(2, sequence = 1))), Seq(acc(row(4, expires = 10))))
      d.at(11)
      val byKey = joinType match {
        case JoinType.LeftSemi   => left == Layout.UniqueKey
        case JoinType.RightOuter => false
        case other               => identifies || other.preserves(Left)
      }
      assert(d.batch(Seq(retract(row(2, sequence = 2))), Nil) == (if (byKey) deleted else Nil))
    }
  }

  test("a row whose partner was deleted has no result: its delete emits nothing") {
    for (joinType <- Seq(JoinType.Inner, JoinType.LeftSemi); segments <- Seq(false, true)) {
      val d =
        new ChangelogDriver(TestChangelog(joinType, Layout.UniqueKey, Layout.OneAKey), segments)
      d.at(0)
      assert(d.batch(Seq(acc(row(2))), Seq(acc(row(4, expires = 10)))).length == 1)
      assert(d.rows(Left).map(_._2) == Seq(true))
      assert(d.batch(Nil, Seq(retract(row(4)))).length == 1)
      assert(d.rows(Left).map(_._2) == Seq(false))
      assert(d.batch(Seq(retract(row(2))), Nil).isEmpty)
    }
  }

  test("rows that retract their results when they expire emit the join of the rows that stay") {
    def kinds(out: Seq[Changed[Out]]) =
      out.map(c => (c.kind.name, c.row.left.map(_.value), c.row.right.map(_.value)))
    for (segments <- Seq(false, true)) {
      val join =
        TestChangelog(JoinType.LeftOuter, Layout.UniqueKey, Layout.OneAKey, expiry = Expiry.Retract)
      val d = new ChangelogDriver(join, segments)
      d.at(0)
      d.batch(Seq(acc(row(2))), Seq(acc(row(4, expires = 10, sequence = 1))))
      d.at(11)
      assert(kinds(d.batch(Nil, Nil)) ==
        Seq(("delete", Some(2), Some(4)), ("insert", Some(2), None)))
      // its results are retracted already
      assert(d.batch(Nil, Seq(retract(row(4, expires = 21, sequence = 2)))).isEmpty)
      assert(d.counters.rows(Right, Count.Unknown) == 1)
      // a row that is over when it arrives is not stored
      val over = row(6, expires = 10, sequence = 3)
      assert(d.batch(Nil, Seq(acc(over))).isEmpty && d.counters.rows(Right, Count.Expired) == 2)
      // the old and the new row of a batch are one update
      d.batch(Nil, Seq(acc(row(6, expires = 12, sequence = 4))))
      d.at(13)
      assert(d.batch(
        Nil,
        Seq(acc(row(8, expires = 30, sequence = 5)))
      ).map(_.row.right.map(_.value))
        == Seq(Some(6), Some(8)))
    }
  }

  test("a write of an equal row restarts its TTL") {
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

  test("a write of an equal row is emitted if `reports` is set, a stale one never") {
    for (reports <- Seq(false, true)) {
      val d = new ChangelogDriver(
        TestChangelog(JoinType.LeftAnti, Layout.UniqueKey, Layout.UniqueKey, reports = reports)
      )
      d.at(0)
      def write(expires: Long, sequence: Int) =
        d.batch(Seq(acc(row(2, expires, sequence))), Nil).map(_.kind)
      assert(write(10, 2) == Seq(ChangeKind.Insert))
      d.at(5)
      val expected = if (reports) Seq(ChangeKind.Preimage, ChangeKind.Postimage) else Nil
      assert(write(15, 2) == expected && write(20, 3) == expected)
      assert(write(25, 1).isEmpty)
      // images that cancel each other also write the row
      val same = row(2, 30, 4)
      assert(d.batch(Seq(retract(same), acc(same)), Nil).map(_.kind) == expected)
      d.at(29)
      assert(d.stored(Left) == 1)
      d.at(31)
      assert(d.stored(Left) == 0 && write(40, 5) == Seq(ChangeKind.Insert))
    }
  }

  test("an older change of a deleted key is stale until the TTL ends") {
    val d = driver(JoinType.LeftOuter, Layout.UniqueKey, aging = true)
    d.at(0)
    val old = row(2, sequence = 1).copy(expires = 10)
    d.batch(Seq(acc(old)), Nil)
    assert(d.batch(Seq(retract(old.copy(sequence = 3, expires = 10))), Nil).length == 1)
    assert(d.batch(Seq(acc(old.copy(sequence = 2)), retract(old.copy(sequence = 2))), Nil).isEmpty)
    assert(d.batch(Seq(acc(old)), Nil).isEmpty)
    assert(d.counters.rows(Left, Count.Stale) == 3)
    // a delete without a stored row can be of an expired row
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

  test("a change older than the stored row is counted as stale and has no effect") {
    val d = driver(JoinType.LeftAnti, Layout.UniqueKey)
    d.batch(Seq(acc(row(2, sequence = 5))), Nil)
    assert(d.batch(Seq(acc(row(4, sequence = 4)), retract(row(4, sequence = 3))), Nil).isEmpty)
    assert(d.counters.rows(Left, Count.Stale) == 2)
    assert(d.stored(Left) == 1)
  }

  test("a delete removes the row that expires first among equal rows") {
    for (segments <- Seq(false, true)) {
      val join = TestChangelog(JoinType.Inner, Layout.NoKey, Layout.NoKey, aging = true)
      val d = new ChangelogDriver(join, segments)
      d.at(0)
      d.batch(Seq(acc(row(2, expires = 10))), Nil)
      d.batch(Seq(acc(row(2, expires = 30))), Nil)
      d.batch(Seq(acc(row(2, expires = 20))), Nil)
      d.batch(Seq(retract(row(2, expires = 40))), Nil)
      assert(d.rows(Left).map(_._1.expires).sorted == Seq(20, 30))
      // a row deleted and inserted again expires later
      d.batch(Seq(retract(row(2, expires = 40)), acc(row(2, expires = 40))), Nil)
      assert(d.rows(Left).map(_._1.expires).sorted == Seq(30, 40))
    }
  }

  test("among rows of equal expiry, a delete first removes one without results") {
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

  test("a row that fails a one-sided condition still supersedes older changes of its key") {
    val join =
      TestChangelog(JoinType.Inner, Layout.UniqueKey, Layout.UniqueKey, filtered = true)
    val d = new ChangelogDriver(join)
    d.batch(Seq(acc(row(3, sequence = 5))), Seq(acc(row(2, sequence = 1))))
    assert(d.batch(Seq(acc(row(2, sequence = 4))), Nil).isEmpty)
    assert(d.counters.rows(Left, Count.Stale) == 1)
    assert(d.batch(Seq(acc(row(2, sequence = 6))), Nil).length == 1)
    assert(d.batch(Seq(acc(row(3, sequence = 7))), Nil).length == 1)
    assert(d.batch(Seq(acc(row(2, sequence = 6))), Nil).isEmpty)
    assert(d.counters.rows(Left, Count.Stale) == 2)
  }

  test("an update without an effect still supersedes older changes") {
    val d = driver(JoinType.LeftOuter, Layout.UniqueKey)
    d.batch(Seq(acc(row(2, sequence = 1))), Nil)
    assert(d.batch(Seq(retract(row(2, sequence = 5)), acc(row(2, sequence = 5))), Nil).isEmpty)
    assert(d.batch(Seq(acc(row(4, sequence = 3))), Nil).isEmpty)
    assert(d.counters.rows(Left, Count.Stale) == 1)
  }
}
