package io.streamjoin.join.asof

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.testing.{Emitted, HeapJoinState, Joined, TestRow, Unmatched}

/** Trades on the left are joined with the last quote before them. */
class AsOfJoinSuite extends AnyFunSuite {

  private def trade(time: Long, key: Long = 0, name: String = "") =
    TestRow(Left, Map(0 -> time), Some(key), name = name)

  private def quote(time: Long, key: Long = 0, name: String = "") =
    TestRow(Right, Map(1 -> time), Some(key), name = name)

  private class Join(
      joinType: JoinType = JoinType.Inner,
      count: Int = 1,
      reach: Long = 0,
      tolerance: Option[Long] = None
  ) {
    val state = new HeapJoinState[TestRow](identity)
    val driver = new AsOfDriver(joinType, AsOfBounds(Left, count, reach, tolerance), state)

    def apply(left: Long, right: Long)(rows: TestRow*): Seq[Emitted] =
      driver.batch(rows, BySide(left, right))

    def buffered: (Long, Long) = (state.size(Left), state.size(Right))
  }

  test("a trade is joined with the last quote when both watermarks exceed its time") {
    val join = new Join()
    assert(join(5, 5)(trade(5), quote(3), quote(4)).isEmpty)
    assert(join(6, 5)().isEmpty)
    // at the watermark, another quote of its time can still arrive
    assert(join(6, 6)() == Seq(Joined(trade(5), quote(4))))
    assert(join.buffered == ((0, 1)))
  }

  test("a quote that arrives after the trade but has an earlier time is joined") {
    val join = new Join()
    join(0, 0)(trade(10), quote(3))
    assert(join(20, 8)(quote(9)).isEmpty)
    assert(join(20, 11)(quote(8), quote(12)) == Seq(Joined(trade(10), quote(9))))
  }

  test("a quote at the trade's time is joined, and the tie order decides among equal times") {
    val join = new Join()
    assert(
      join(9, 9)(quote(5, name = "b"), quote(5, name = "a"), trade(5)) ==
        Seq(Joined(trade(5), quote(5, name = "b")))
    )
  }

  test("the last quote of a key stays buffered, with a tolerance until it expires") {
    val ever = new Join()
    ever(10, 10)(quote(1), quote(2), quote(3, key = 1))
    assert(ever.buffered == ((0, 2)))
    assert(ever(1000, 1000)(trade(999)) == Seq(Joined(trade(999), quote(2))))
    assert(ever.buffered == ((0, 2)))
    val limited = new Join(JoinType.LeftOuter, tolerance = Some(20))
    limited(10, 10)(quote(1), quote(2))
    assert(limited(22, 22)(trade(21)) == Seq(Joined(trade(21), quote(2))))
    assert(limited.buffered == ((0, 1)))
    assert(limited(30, 30)(trade(22), trade(23)) ==
      Seq(Joined(trade(22), quote(2)), Unmatched(trade(23))))
    assert(limited.buffered == ((0, 0)))
    assert(limited.driver.counters.rows(Right, Count.Evicted) == 2)
  }

  test("late rows of either side are dropped and retract nothing") {
    val join = new Join(JoinType.LeftOuter)
    assert(join(10, 10)(quote(4), trade(6)) == Seq(Joined(trade(6), quote(4))))
    assert(join(12, 12)(quote(5), trade(9), trade(11)) == Seq(Joined(trade(11), quote(4))))
    assert(Side.both.map(join.driver.counters.rows(_, Count.Late)) == Seq(1, 1))
  }

  test("disorder statistics of each side include late rows") {
    val join = new Join()
    join(10, 20)(quote(4), trade(6))
    assert(join.driver.disorder.furthestBehind.forall(_ == Watermarks.Unknown))
    join(12, 22)(quote(13), quote(21), trade(9))
    assert(join.driver.disorder.furthestBehind.toSeq == Seq(1, 7))
    join(30, 30)(trade(15))
    assert(join.driver.disorder.furthestBehind.toSeq == Seq(1, 7))
    assert(join.driver.disorder.sketches(1).rows == 2)
  }

  test("a join with count 3 emits the last three quotes in ascending time") {
    val join = new Join(count = 3)
    join(10, 10)(quote(1), quote(2), quote(3), quote(4))
    assert(join.buffered == ((0, 3)))
    assert(join(20, 20)(trade(12), quote(11)) ==
      Seq(quote(3), quote(4), quote(11)).map(Joined(trade(12), _)))
  }

  test("reach moves the latest time of a matching quote: -1, -3 and 2") {
    val strictly = new Join(reach = -1)
    assert(strictly(9, 9)(quote(4), quote(5), trade(5)) == Seq(Joined(trade(5), quote(4))))
    val delayed = new Join(reach = -3)
    assert(delayed(9, 7)(quote(4), quote(5), trade(8)) == Seq(Joined(trade(8), quote(5))))
    val ahead = new Join(reach = 2)
    assert(ahead(9, 7)(quote(7), trade(5)).isEmpty)
    assert(ahead(9, 8)() == Seq(Joined(trade(5), quote(7))))
  }

  test("a left outer join emits a row without a time or key at once, and buffers none") {
    val join = new Join(JoinType.LeftOuter)
    val (timeless, keyless) = (trade(0).copy(times = Map.empty), trade(1).copy(key = None))
    assert(join(0, 0)(timeless, keyless, quote(0).copy(times = Map.empty)) ==
      Seq(Unmatched(timeless), Unmatched(keyless)))
    assert(Side.both.map(join.driver.counters.rows(_, Count.NullTime)) == Seq(1, 1))
    assert(join.buffered == ((0, 0)))
  }
}
