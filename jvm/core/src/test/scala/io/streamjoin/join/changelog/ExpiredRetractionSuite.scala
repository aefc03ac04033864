package io.streamjoin.join.changelog

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType
import io.streamjoin.model.JoinType._
import io.streamjoin.model.Side.{Left, Right}

/**
 * Removals of rows that have expired, one case at a time: what they take back of each join type, and on either side.
 * [[AgingModelSuite]] has the rule for random ones.
 */
class ExpiredRetractionSuite extends AnyFunSuite {

  /**
   * A join whose first input has an age of 10. The other has none. The first one is the left, or, `swapped`, the
   * right of the mirrored join.
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

    /** A batch: its kinds, and the values of both rows. */
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
      // what is not in a checkpoint is not known any more
      driver.restart()
    }

    def counted(count: ChangelogCounters.Count): Long =
      driver.counters.rows(if (swapped) Right else Left, count)
  }

  private def row(value: Int, unique: Int, sequence: Int) =
    Row(Some(1), unique, value, sequence)
  private def add(value: Int, unique: Int = 1, sequence: Int = 0) =
    Change(row(value, unique, sequence), added = true)
  private def remove(value: Int, unique: Int = 1, sequence: Int = 0) =
    Change(row(value, unique, sequence), added = false)

  /** Of an input that expires, and of the other: each on either side, in both states. */
  private def each(joinType: JoinType, aged: Layout, other: Layout)(check: Case => Unit): Unit =
    for (
      segments <- Seq(false, true); swapped <- Seq(false, true) if !(swapped && joinType.leftOnly)
    )
      withClue(s"$joinType, $aged, $other, segments $segments, swapped $swapped: ") {
        check(new Case(joinType, aged, other, segments, swapped))
      }

  private val layouts = Seq(Layout.OneAKey, Layout.UniqueKey, Layout.NoKey)

  test("a row is taken back with the partners that are held") {
    for (aged <- layouts; joinType <- Seq(Inner, LeftOuter))
      each(joinType, aged, Layout.UniqueKey) { c =>
        c.batch(add(2))(add(4, 1), add(6, 2))
        c.expire()
        assert(c.batch(remove(2))() == Set(
          ("delete", Some(2), Some(4)),
          ("delete", Some(2), Some(6))
        ))
        assert(c.counted(ChangelogCounters.RetractedExpired) == 1)
        assert(
          c.counted(ChangelogCounters.Unknown) == 0 && c.counted(ChangelogCounters.Deleted) == 0
        )
      }
  }

  test("a preserved row that had no partner, or of which none is held, is taken back alone") {
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
    // an inner join does not know the row that was joined
    each(Inner, Layout.NoKey, Layout.NoKey) { c =>
      c.batch(add(2))(add(4))
      c.expire()
      c.batch()(remove(4))
      assert(c.batch(remove(2))().isEmpty)
    }
  }

  test("a row that has lost its only possible partner by age is padded when that is deleted") {
    for (other <- layouts) each(RightOuter, Layout.OneAKey, other) { c =>
      c.batch(add(2))(add(4))
      c.expire()
      assert(c.batch(remove(2))() == Set(("delete", Some(2), Some(4)), ("insert", None, Some(4))))
      // it is a row as any without a partner, from now on
      assert(c.batch(add(6))().map(_._1) == Set("delete", "insert"))
      assert(c.batch(remove(6))().map(_._1) == Set("delete", "insert"))
    }
  }

  test("where there may be others, only the pair is taken back") {
    for (aged <- Seq(Layout.UniqueKey, Layout.NoKey))
      each(RightOuter, aged, Layout.UniqueKey) { c =>
        c.batch(add(2, 1), add(6, 2))(add(4))
        c.expire()
        assert(c.batch(remove(2, 1))() == Set(("delete", Some(2), Some(4))))
        assert(c.batch(remove(6, 2))() == Set(("delete", Some(6), Some(4))))
      }
  }

  test("a preserved row that came when its partner had expired gave nothing with it") {
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

  test("an update takes its old image back, a bare one does not") {
    each(Inner, Layout.UniqueKey, Layout.UniqueKey) { c =>
      c.batch(add(2, sequence = 1))(add(4))
      c.expire()
      assert(c.batch(remove(2, sequence = 2), add(8, sequence = 2))() ==
        Set(("update_preimage", Some(2), Some(4)), ("update_postimage", Some(8), Some(4))))
      c.expire()
      assert(c.batch(add(6, sequence = 3))() == Set(("insert", Some(6), Some(4))))
      c.expire()
      // the first image of a batch is what was there before it
      assert(c.batch(
        add(2, sequence = 5),
        remove(8, sequence = 5),
        add(8, sequence = 4),
        remove(6, sequence = 4)
      )() == Set(("update_preimage", Some(6), Some(4)), ("update_postimage", Some(2), Some(4))))
      c.expire()
      // an update that changes nothing brings back no row
      assert(c.batch(remove(2, sequence = 6), add(2, sequence = 6))().isEmpty)
      assert(c.batch(remove(2, sequence = 7))() == Set(("delete", Some(2), Some(4))))
      // and now it is known to be gone
      assert(c.batch(remove(2, sequence = 8))().isEmpty)
      assert(c.counted(ChangelogCounters.RetractedExpired) == 3)
      assert(c.counted(ChangelogCounters.Unknown) == 1)
    }
  }

  test("two rows that have expired and go in one batch take back what they gave together") {
    val join = TestChangelog(Inner, Layout.UniqueKey, Layout.UniqueKey, aging = true)
    for (segments <- Seq(false, true)) {
      val d = new ChangelogDriver(join, segments)
      def of(change: Change[Row], now: Long) =
        Seq(change.copy(row = change.row.copy(expires = now + 10)))
      d.at(0)
      d.batch(of(add(2), 0), of(add(4), 0))
      d.at(11)
      assert(d.batch(of(remove(2), 11), of(remove(4), 11)).map(c =>
        c.kind -> c.row.left.map(_.value)
      ) ==
        Seq(ChangeKind.Delete -> Some(2)))
    }
  }

  test("semi and anti joins go by the partners that are held") {
    val gone = Set(("delete", Option(2), Option.empty[Int]))
    for (
      (joinType, withPartner, without) <-
        Seq((LeftSemi, gone, Set.empty), (LeftAnti, Set.empty, gone))
    )
      for (partner <- Seq(true, false)) each(joinType, Layout.NoKey, Layout.NoKey) { c =>
        c.batch(add(2))(Seq(add(4)).filter(_ => partner): _*)
        c.expire()
        assert(c.batch(remove(2))() == (if (partner) withPartner else without))
      }
  }

  test(
    "a row of a semi or anti join whose only possible partner has expired turns when that goes"
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
      // a new row in the place of one that has expired
      d.at(12)
      d.batch(Nil, right(add(4, sequence = 3), 12))
      d.at(23)
      assert(d.batch(Nil, right(add(6, sequence = 4), 23)).isEmpty)
      assert(kinds(d.batch(Nil, right(remove(6, sequence = 5), 23))) == Seq(kind))
    }
  }

  test("a bare update of an expired row tells no more of it, and its row is the only partner") {
    each(RightOuter, Layout.OneAKey, Layout.UniqueKey) { c =>
      c.batch(add(2, sequence = 1))(add(4))
      c.expire()
      assert(c.batch(add(6, sequence = 2))() == Set(("insert", Some(6), Some(4))))
      assert(c.batch(remove(6, sequence = 3))().map(o => o._2 -> o._3) ==
        Set(Some(6) -> Some(4), None -> Some(4)))
    }
  }

  test("without an age a removal of what is not held is ignored") {
    for (joinType <- JoinType.all; layout <- layouts) {
      val d = new ChangelogDriver(TestChangelog(joinType, layout, layout))
      assert(d.batch(Nil, Seq(add(4))).length <= 1)
      assert(d.batch(Seq(remove(2)), Nil).isEmpty)
      assert(d.counters.rows(Left, ChangelogCounters.Unknown) == 1)
    }
  }
}
