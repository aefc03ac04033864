package io.streamjoin.join.changelog

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.JoinType
import io.streamjoin.model.JoinType._
import io.streamjoin.model.Side.{Left, Right}

/**
 * Deletes of expired rows, case by case: the output that they retract for each join type and side.
 * [[AgingModelSuite]] compares random ones with the model.
 */
class ExpiredRetractionSuite extends AnyFunSuite {

  /**
   * A join whose first input has a TTL of 10. The other input has none. The first input is the left
   * one, or, if `swapped`, the right one of the mirrored join.
   */
  private final class Case(
      joinType: JoinType,
      aged: Layout,
      other: Layout,
      segments: Boolean,
      swapped: Boolean
  ) {
    private val mirrored = Map[JoinType, JoinType](LeftOuter -> RightOuter, RightOuter -> LeftOuter)
    private val driver = {
      val (l, r) = if (swapped) (other, aged) else (aged, other)
      val of = if (swapped) mirrored.getOrElse(joinType, joinType) else joinType
      new ChangelogDriver(TestChangelog(of, l, r, aging = true), segments)
    }
    private var now = 0L
    driver.at(now)

    private def expiring(c: Change[Row]): Change[Row] = c.copy(row = c.row.copy(expires = now + 10))

    /** Runs a batch. Returns the change kinds and the values of both rows. */
    def batch(aged: Change[Row]*)(others: Change[Row]*): Set[(String, Option[Int], Option[Int])] = {
      val first = aged.map(expiring)
      val out = if (swapped) driver.batch(others, first) else driver.batch(first, others)
      val shown = out.map { c =>
        val (a, b) = if (swapped) (c.row.right, c.row.left) else (c.row.left, c.row.right)
        (c.kind.name, a.map(_.value), b.map(_.value))
      }
      assert(shown.distinct == shown)
      shown.toSet
    }

    /** The rows of the first input expire. */
    def expire(): Unit = {
      now += 11
      driver.at(now)
      // after a restart, only checkpointed data is known
      driver.restart()
    }

    def counted(count: Count): Long =
      driver.counters.rows(if (swapped) Right else Left, count)
  }

  private def row(value: Int, unique: Int, sequence: Int) =
    Row(Some(1), unique, value, sequence)
  private def add(value: Int, unique: Int = 1, sequence: Int = 0) =
    Change(row(value, unique, sequence), added = true)
  private def remove(value: Int, unique: Int = 1, sequence: Int = 0) =
    Change(row(value, unique, sequence), added = false)

  /** Checks a case with the expiring input on each side, and with both states. */
  private def each(joinType: JoinType, aged: Layout, other: Layout)(check: Case => Unit): Unit =
    for (
      segments <- Seq(false, true); swapped <- Seq(false, true) if !(swapped && joinType.leftOnly)
    )
      withClue(s"$joinType, $aged, $other, segments $segments, swapped $swapped: ") {
        check(new Case(joinType, aged, other, segments, swapped))
      }

  private val layouts = Seq(Layout.OneAKey, Layout.UniqueKey, Layout.NoKey)

  test("a row without a key that is deleted and inserted in one batch keeps its results") {
    for (aged <- layouts; joinType <- Seq(Inner, LeftOuter))
      each(joinType, aged, Layout.NoKey) { c =>
        c.batch(add(2))(add(4))
        c.expire()
        assert(c.batch()(remove(4), add(4)) == Set.empty)
        assert(c.batch(remove(2))() == Set(("delete", Some(2), Some(4))))
      }
  }

  test("a delete of an expired row deletes its pairs with the stored partners") {
    for (aged <- layouts; joinType <- Seq(Inner, LeftOuter))
      each(joinType, aged, Layout.UniqueKey) { c =>
        c.batch(add(2))(add(4, 1), add(6, 2))
        c.expire()
        assert(c.batch(remove(2))() == Set(
          ("delete", Some(2), Some(4)),
          ("delete", Some(2), Some(6))
        ))
        assert(c.counted(Count.RetractedExpired) == 1)
        assert(
          c.counted(Count.Unknown) == 0 && c.counted(Count.Deleted) == 0
        )
      }
  }

  test("a delete of an expired preserved row without a stored partner deletes its padded row") {
    for (aged <- layouts; joinType <- Seq(LeftOuter, FullOuter))
      each(joinType, aged, Layout.OneAKey) { c =>
        c.batch(add(2))()
        c.expire()
        assert(c.batch(remove(2))() == Set(("delete", Some(2), None)))
      }
    for (joinType <- Seq(LeftOuter, LeftAnti)) each(joinType, Layout.NoKey, Layout.NoKey) { c =>
      c.batch(add(2))()
      c.expire()
      assert(c.batch(remove(2))() == Set(("delete", Some(2), None)))
    }
    // an inner join no longer stores the joined row
    each(Inner, Layout.NoKey, Layout.NoKey) { c =>
      c.batch(add(2))(add(4))
      c.expire()
      c.batch()(remove(4))
      assert(c.batch(remove(2))().isEmpty)
    }
  }

  test("a delete of the only possible partner, already expired, pads the stored row") {
    for (other <- layouts) each(RightOuter, Layout.OneAKey, other) { c =>
      c.batch(add(2))(add(4))
      c.expire()
      assert(c.batch(remove(2))() == Set(("delete", Some(2), Some(4)), ("insert", None, Some(4))))
      // from now on the row is handled as one without a partner
      assert(c.batch(add(6))().map(_._1) == Set("delete", "insert"))
      assert(c.batch(remove(6))().map(_._1) == Set("delete", "insert"))
    }
  }

  test("after deletes of expired partners, the stored row is padded") {
    for (aged <- Seq(Layout.UniqueKey, Layout.NoKey))
      each(RightOuter, aged, Layout.UniqueKey) { c =>
        c.batch(add(2, 1), add(6, 2))(add(4))
        c.expire()
        val padded = ("insert", Option.empty[Int], Option(4))
        assert(c.batch(remove(2, 1))() == Set(("delete", Some(2), Some(4)), padded))
        // as if the other expired row had never been there: a table by key has the padded row once
        assert(c.batch(remove(6, 2))() == Set(("delete", Some(6), Some(4)), padded))
      }
  }

  test("a delete of a row that expired before its partner arrived does not delete a pair") {
    for (aged <- layouts; joinType <- Seq(RightOuter, FullOuter))
      each(joinType, aged, Layout.UniqueKey) { c =>
        c.batch(add(2))()
        c.expire()
        assert(c.batch()(add(4)) == Set(("insert", None, Some(4))))
        val alone =
          if (joinType == FullOuter) Set(("delete", Option(2), Option.empty[Int])) else Set.empty
        assert(c.batch(remove(2))() == alone)
      }
  }

  test("an update with an old image retracts the expired row, one without does not") {
    each(Inner, Layout.UniqueKey, Layout.UniqueKey) { c =>
      c.batch(add(2, sequence = 1))(add(4))
      c.expire()
      assert(c.batch(remove(2, sequence = 2), add(8, sequence = 2))() ==
        Set(("update_preimage", Some(2), Some(4)), ("update_postimage", Some(8), Some(4))))
      c.expire()
      assert(c.batch(add(6, sequence = 3))() == Set(("insert", Some(6), Some(4))))
      c.expire()
      // the first image of a batch is the row before the batch
      assert(c.batch(
        add(2, sequence = 5),
        remove(8, sequence = 5),
        add(8, sequence = 4),
        remove(6, sequence = 4)
      )() == Set(("update_preimage", Some(6), Some(4)), ("update_postimage", Some(2), Some(4))))
      c.expire()
      // an update without an effect emits no row
      assert(c.batch(remove(2, sequence = 6), add(2, sequence = 6))().isEmpty)
      assert(c.batch(remove(2, sequence = 7))() == Set(("delete", Some(2), Some(4))))
      // the row is now known to be deleted
      assert(c.batch(remove(2, sequence = 8))().isEmpty)
      assert(c.counted(Count.RetractedExpired) == 3)
      assert(c.counted(Count.Unknown) == 1)
    }
  }

  test("expired partners that are deleted together are deleted by the key of the result") {
    for (
      segments <- Seq(false, true);
      (right, byKey) <- Seq(Layout.OneAKey -> 1, Layout.UniqueKey -> 0)
    ) {
      val join = TestChangelog(Inner, Layout.UniqueKey, right, aging = true)
      val d = new ChangelogDriver(join, segments)
      def of(change: Change[Row], now: Long) =
        Seq(change.copy(row = change.row.copy(expires = now + 10)))
      d.at(0)
      d.batch(of(add(2), 0), of(add(4), 0))
      d.at(11)
      val out = d.batch(of(remove(2), 11), of(remove(4), 11))
      assert(out.map(c => (c.kind, c.row.left.map(_.value), c.row.right)) ==
        Seq.fill(byKey)((ChangeKind.Delete, Some(2), None)))
      // nothing tells the results of the others
      assert(d.counters.rows(Left, Count.Unknown) == 1 - byKey)
      assert(d.counters.rows(Right, Count.Unknown) == 1)
    }
  }

  test("a delete of an expired row does not delete results that never were") {
    for (joinType <- Seq(Inner, LeftOuter); segments <- Seq(false, true)) {
      val d = new ChangelogDriver(
        TestChangelog(joinType, Layout.UniqueKey, Layout.OneAKey, aging = true),
        segments
      )
      def customer(c: Change[Row], now: Long) = Seq(c.copy(row = c.row.copy(expires = now + 10)))
      def out(left: Change[Row]*)(right: Seq[Change[Row]]) = d.batch(left, right).map(c =>
        (c.kind.added, c.row.left.map(_.value), c.row.right.map(_.value))
      ).toSet
      d.at(0)
      out(add(7, unique = 7))(customer(add(1, sequence = 1), 0))
      d.at(11)
      // order 8 arrives when the customer has expired
      out(add(8, unique = 8))(Nil)
      val padded =
        if (joinType == LeftOuter) Set((true, Option(7), Option.empty[Int])) else Set.empty
      assert(out()(customer(
        remove(1, sequence = 2),
        11
      )) == Set((false, Some(7), Some(1))) ++ padded)
      // the delete arrives again, after its tombstone has expired
      d.at(22)
      assert(out()(customer(remove(1, sequence = 2), 22)).isEmpty)
    }
  }

  test("equal images of an expired row cancel: the row does not return") {
    for (layout <- layouts; segments <- Seq(false, true)) {
      val d = new ChangelogDriver(TestChangelog(LeftOuter, layout, layout, aging = true), segments)
      def of(changes: Change[Row]*) = changes.map(c => c.copy(row = c.row.copy(expires = 10)))
      d.at(0)
      d.batch(of(add(2, sequence = 1)), Nil)
      d.at(11)
      assert(d.batch(of(remove(2, sequence = 2), add(2, sequence = 2)), Nil).isEmpty)
      assert(d.stored(Left) == 0)
    }
  }

  /** Changes of rows of one event time, which expire after 10. */
  private def aged(changes: Change[Row]*) =
    changes.map(c => c.copy(row = c.row.copy(expires = 10)))

  test("an expired row that is deleted, then inserted and deleted at once, is deleted") {
    val d = new ChangelogDriver(TestChangelog(Inner, Layout.UniqueKey, Layout.UniqueKey))
    d.at(0)
    d.batch(aged(add(2, sequence = 1)), Seq(add(4)))
    d.at(11)
    val changes = aged(remove(2, sequence = 2), add(2, sequence = 3), remove(2, sequence = 3))
    assert(d.batch(changes, Nil).map(_.kind) == Seq(ChangeKind.Delete))
  }

  test("a delete of an expired row of a semi or anti join uses the stored partners") {
    val deleted = Set(("delete", Option(2), Option.empty[Int]))
    for (
      (joinType, withPartner, without) <-
        Seq((LeftSemi, deleted, Set.empty), (LeftAnti, Set.empty, deleted))
    )
      for (partner <- Seq(true, false)) each(joinType, Layout.NoKey, Layout.NoKey) { c =>
        c.batch(add(2))(Seq(add(4)).filter(_ => partner): _*)
        c.expire()
        assert(c.batch(remove(2))() == (if (partner) withPartner else without))
      }
  }

  test(
    "a delete of the only possible partner, already expired, changes a semi or anti join's row"
  ) {
    for (
      (joinType, kind) <- Seq(LeftSemi -> "delete", LeftAnti -> "insert");
      segments <- Seq(false, true)
    ) {
      val d = new ChangelogDriver(
        TestChangelog(joinType, Layout.UniqueKey, Layout.OneAKey, aging = true),
        segments
      )
      def right(c: Change[Row], now: Long) = Seq(c.copy(row = c.row.copy(expires = now + 10)))
      def kinds(out: Seq[Changed[Out]]) = out.map(_.kind.name)
      d.at(0)
      d.batch(Seq(add(2)), right(add(4, sequence = 1), 0))
      d.at(11)
      assert(kinds(d.batch(Nil, right(remove(4, sequence = 2), 11))) == Seq(kind))
      // a new row replaces an expired one: the left row is emitted as if it had no partner
      d.at(12)
      val turned = if (joinType == LeftSemi) "insert" else "delete"
      assert(kinds(d.batch(Nil, right(add(4, sequence = 3), 12))) == Seq(turned))
      d.at(23)
      assert(kinds(d.batch(Nil, right(add(6, sequence = 4), 23))) == Seq(turned))
      assert(kinds(d.batch(Nil, right(remove(6, sequence = 5), 23))) == Seq(kind))
    }
  }

  test("after an update without an old image, the new row is the only partner") {
    each(RightOuter, Layout.OneAKey, Layout.UniqueKey) { c =>
      c.batch(add(2, sequence = 1))(add(4))
      c.expire()
      assert(c.batch(add(6, sequence = 2))().map(o => o._2 -> o._3) ==
        Set(None -> Some(4), Some(6) -> Some(4)))
      assert(c.batch(remove(6, sequence = 3))().map(o => o._2 -> o._3) ==
        Set(Some(6) -> Some(4), None -> Some(4)))
    }
  }

  test("a new partner without a result deletes the result with the expired one by its key") {
    for (swapped <- Seq(false, true)) {
      val (of, aged, other) =
        if (swapped) (RightOuter, Right, Left) else (LeftOuter, Left, Right)
      val join = TestChangelog(of, Layout.OneAKey, Layout.OneAKey, aging = true, selective = true)
      val driver = new ChangelogDriver(join, segments = true)
      def batch(preserved: Seq[Change[Row]], partners: Change[Row]*) =
        if (aged == Left) driver.batch(preserved, partners) else driver.batch(partners, preserved)
      driver.at(0)
      // alone, the row has no result, and with this partner it has one
      val partner = add(1).copy(row = row(1, 1, 0).copy(expires = 10))
      assert(batch(Seq(add(3)), partner).map(_.kind) == Seq(ChangeKind.Insert))
      driver.at(11)
      assert(driver.stored(other) == 0)
      val padded = join.output.ofKey(aged, row(3, 1, 0))
      assert(batch(Nil, add(3)) == Seq(Changed(ChangeKind.Delete, padded)))
    }
  }

  test("without a TTL, a delete of a row that is not stored is ignored and counted") {
    for (joinType <- JoinType.all; layout <- layouts) {
      val d = new ChangelogDriver(TestChangelog(joinType, layout, layout))
      assert(d.batch(Nil, Seq(add(4))).length <= 1)
      assert(d.batch(Seq(remove(2)), Nil).isEmpty)
      assert(d.counters.rows(Left, Count.Unknown) == 1)
    }
  }
}
