package io.streamjoin.bounds

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.streamjoin.model.Side
import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.testing.{TestJoin, TestRow}

/** Seconds of the left input, compared in milliseconds with a time of the right one. */
class MultipleSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** `d BETWEEN 1000 * o - down AND 1000 * o + up` */
  private class Units(factor: Long, down: Long, up: Long) extends TestJoin {
    val o = left("o")
    val inMillis = multiple(o, factor)
    val d = right("d")
    on(Seq(TimeBound(d.index, inMillis.index, down)), Seq(TimeBound(inMillis.index, d.index, up)))

    def row(seconds: Long): TestRow = l(seconds, Saturated.multiply(seconds, factor))

    def received(left: Long, right: Long): Array[Long] = Array(
      left,
      if (left == Unknown) Unknown else Saturated.multiply(left, factor),
      right
    )
  }

  private val minute = new Units(1000, 0, 60000)

  test("the watermark of a column bounds the other input through its multiple") {
    assert(Side.both.forall(minute.bounds.bounded))
    assert(minute.bounds.limiting(Side.Right) == Seq(minute.inMillis.index))
    assert(minute.bounds.limiting(Side.Left) == Seq(minute.d.index))
  }

  test("only the column itself has an output watermark, its multiple has none") {
    assert(minute.bounds.watermarkedInOutput(minute.o.index))
    assert(!minute.bounds.watermarkedInOutput(minute.inMillis.index))
  }

  test("a probe uses the multiple, and the condition constrains the column and its multiple") {
    assert(minute.bounds.probeColumn(Side.Left) == minute.inMillis.index)
    assert(minute.bounds.constrained == Set(0, 1, 2))
  }

  test("the output watermark is in the unit of the column, rounded up") {
    def out(left: Long, right: Long) =
      minute.bounds.outputWatermark(minute.o.index, minute.received(left, right))
    assert(out(100, 100000) == 40)
    assert(out(100, 100001) == 41)
    assert(out(30, 100000) == 30)
    assert(out(-100, -100001) == -160)
    assert(out(100, Unknown) == Unknown)
    assert(out(Unknown, 100000) == Unknown)
  }

  private val edges: Gen[Long] = Gen.oneOf(
    Gen.choose(-5000L, 5000L),
    Gen.choose(Long.MinValue, Long.MinValue + 5000),
    Gen.choose(Long.MaxValue - 5000, Long.MaxValue)
  )

  private val seconds: Gen[Long] = Gen.oneOf(
    Gen.choose(-6L, 6L),
    Gen.choose(Long.MinValue / 1000, Long.MinValue / 1000 + 5),
    Gen.choose(Long.MaxValue / 1000 - 5, Long.MaxValue / 1000)
  )

  private def times(join: TestJoin, row: TestRow): RowTimes = {
    val times = new RowTimes(join.columns.length)
    join.rows.readTimes(row.side, row, times)
    times
  }

  private def survives(rows: RowBounds, times: RowTimes, watermarks: Array[Long]): Boolean = {
    val limits = new Array[Long](rows.limitCount)
    rows.limits(times, limits)
    rows.survives(limits, watermarks)
  }

  test("random rows near the limits of Long miss no match and are not evicted too early") {
    var matches = 0
    forAll(edges, edges, seconds, edges, edges, minSuccessful(5000)) {
      (down, up, left, right, watermark) =>
        val join = new Units(1000, down, up)
        val exact = BigInt(left) * 1000
        if (BigInt(right) >= exact - down && exact >= BigInt(right) - up) {
          matches += 1
          val (l, r) = (times(join, join.row(left)), times(join, join.r(right)))
          val (ofLeft, ofRight) =
            (new RowBounds(join.bounds, Side.Left), new RowBounds(join.bounds, Side.Right))
          assert(ofLeft.probeFrom(l) <= right && right <= ofLeft.probeTo(l))
          assert(ofRight.probeFrom(r) <= l(1) && l(1) <= ofRight.probeTo(r))
          if (right >= watermark) {
            val received = join.received(Unknown, watermark)
            assert(survives(ofLeft, l, received))
            assert(left >= join.bounds.bound(join.o.index, received))
          }
          if (left >= watermark) assert(survives(ofRight, r, join.received(watermark, Unknown)))
        }
    }
    assert(matches > 100)
  }
}
