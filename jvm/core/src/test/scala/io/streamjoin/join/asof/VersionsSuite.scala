package io.streamjoin.join.asof

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.testing.{Emitted, HeapJoinState, Joined, TestRow, Unmatched}

/** Orders on the left are joined with the version of a rate that is valid at their time. */
class VersionsSuite extends AnyFunSuite {

  private def order(time: Long, key: Long = 0, name: String = "") =
    TestRow(Left, Map(0 -> time), Some(key), name = name)

  private def rate(time: Long, key: Long = 0, name: String = "") =
    TestRow(Right, Map(1 -> time), Some(key), name = name)

  private def delete(time: Long, key: Long = 0, name: String = "-") = rate(time, key, name)

  private class Join(
      joinType: JoinType = JoinType.LeftOuter,
      count: Int = 1,
      tolerance: Option[Long] = None
  ) {
    val state = new HeapJoinState[TestRow](identity)
    val driver = new AsOfDriver(
      joinType,
      AsOfBounds(Left, count, 0, tolerance),
      state,
      ends = _.name.startsWith("-")
    )

    def apply(left: Long, right: Long)(rows: TestRow*): Seq[Emitted] =
      driver.batch(rows, BySide(left, right))

    def buffered: (Long, Long) = (state.size(Left), state.size(Right))

    def evicted: Long = driver.counters.rows(Right, Count.Evicted)
  }

  test("a delete ends the version from its own time on, until the next version") {
    val rows = Seq(rate(2), delete(5), rate(8)) ++ Seq(1L, 2L, 4L, 5L, 7L, 8L).map(order(_))
    val left = new Join()
    assert(left(9, 9)(rows: _*) == Seq(
      Unmatched(order(1)),
      Joined(order(2), rate(2)),
      Joined(order(4), rate(2)),
      Unmatched(order(5)),
      Unmatched(order(7)),
      Joined(order(8), rate(8))
    ))
    val inner = new Join(JoinType.Inner)
    assert(inner(9, 9)(rows: _*) ==
      Seq(order(2) -> rate(2), order(4) -> rate(2), order(8) -> rate(8)).map(Joined.tupled))
  }

  test("a deleted key leaves no row in the state once its delete is due") {
    val join = new Join()
    join(4, 4)(rate(2), rate(3, key = 1))
    assert(join.buffered == ((0, 2)))
    join(5, 5)(delete(5), order(5))
    // the delete stays buffered, since an earlier order can still arrive
    assert(join.buffered == ((1, 3)))
    assert(join(6, 6)() == Seq(Unmatched(order(5))))
    assert(join.buffered == ((0, 1)))
    assert(join.evicted == 2)
    assert(join(20, 20)(order(19), order(19, key = 1)) ==
      Seq(Unmatched(order(19)), Joined(order(19, key = 1), rate(3, key = 1))))
  }

  test("orders join the valid version if versions arrive out of order") {
    val join = new Join()
    join(0, 0)(delete(7), order(6), order(8), rate(9))
    assert(join(9, 5)(rate(5)).isEmpty)
    assert(join(10, 10)(order(9), rate(8, name = "b")) == Seq(
      Joined(order(6), rate(5)),
      Joined(order(8), rate(8, name = "b")),
      Joined(order(9), rate(9))
    ))
  }

  test("the tie order decides between a version and a delete of equal time") {
    // by their names: "+" is before "-", and that before letters
    val deleted = new Join()
    assert(deleted(9, 9)(delete(5), rate(5, name = "+"), order(6)) == Seq(Unmatched(order(6))))
    val again = new Join()
    assert(again(9, 9)(rate(5, name = "b"), delete(5), order(6)) ==
      Seq(Joined(order(6), rate(5, name = "b"))))
  }

  test("late versions and deletes are counted and have no effect") {
    val join = new Join()
    join(10, 10)(rate(4))
    assert(join(12, 12)(delete(6), rate(7), order(11)) == Seq(Joined(order(11), rate(4))))
    assert(Side.both.map(join.driver.counters.rows(_, Count.Late)) == Seq(0, 2))
  }

  test("deletes of a missing and of an expired version leave no row buffered") {
    val join = new Join(tolerance = Some(10))
    join(5, 5)(rate(1, key = 1))
    assert(join(30, 30)(delete(6), delete(7, key = 1), order(29), order(29, key = 1)).toSet ==
      Set(Unmatched(order(29)), Unmatched(order(29, key = 1))))
    assert(join.buffered == ((0, 0)))
    assert(join.evicted == 3)
  }

  test("a join with count 3 emits only the versions after the last delete") {
    val join = new Join(JoinType.Inner, count = 3)
    join(10, 10)(rate(1), rate(2), delete(3), rate(4), rate(5))
    assert(join.buffered == ((0, 2)))
    assert(join(20, 20)(order(12)) == Seq(rate(4), rate(5)).map(Joined(order(12), _)))
  }

  /**
   * The script of Flink's `TemporalRowTimeJoinOperatorTest`, rewritten. Differences:
   *
   *   - In Flink, a watermark of 5 means that all rows up to 5 have arrived, here that all below 5
   *     have. Each watermark is one higher.
   *   - The order of time 1 after the watermark 2 is late. Flink joins it with the remaining rows.
   *   - The delete of time 9 would be late, too. The right watermark before it is one less.
   *   - An `update_preimage` never reaches this operator. Flink stores it, until the postimage of
   *     the same time replaces it.
   */
  private def flink(joinType: JoinType): (Join, Seq[Seq[Emitted]]) = {
    val join = new Join(joinType)
    val (one, two) = (1L, 2L)
    val out = Seq(
      join(2, 2)(),
      join(3, 3)(order(1, one).named("late"), rate(2, one)),
      join(6, 6)(order(1, one), order(3, one), rate(4, two)),
      join(9, 9)(order(6, two), rate(7, two)),
      join(14, 14)(order(9, two), order(11, two), delete(9, two).named("-9"), rate(10, two))
    )
    (join, out)
  }

  test("Flink's row-time temporal join test gives the same rows, inner and left") {
    val (_, inner) = flink(JoinType.Inner)
    assert(inner.flatten == Seq(
      Joined(order(3, 1), rate(2, 1)),
      Joined(order(6, 2), rate(4, 2)),
      Joined(order(11, 2), rate(10, 2))
    ))
    val (join, left) = flink(JoinType.LeftOuter)
    assert(left.flatten == Seq(
      Joined(order(3, 1), rate(2, 1)),
      Joined(order(6, 2), rate(4, 2)),
      Unmatched(order(9, 2)),
      Joined(order(11, 2), rate(10, 2))
    ))
    assert(join.driver.counters.rows(Left, Count.Late) == 2)
    assert(join.buffered == ((0, 2)))
  }
}
