package io.streamjoin.join.ordered

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class TimeBucketsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val times = Gen.frequency(
    4 -> Gen.choose(-1000L, 1000L),
    2 -> Gen.choose(Long.MinValue, Long.MaxValue),
    1 -> Gen.oneOf(Long.MinValue, Long.MinValue + 1, Long.MaxValue, 0L)
  )

  test("bucket numbers ascend with the times, and the limit has the last number") {
    forAll(times, times, times) { (a, b, c) =>
      val ascending = Seq(a, b, c).sorted
      val (first, second, limit) = (ascending.head, ascending(1), ascending.last)
      val buckets = new TimeBuckets(limit)
      assert(TimeBuckets.Timeless < buckets.of(first))
      assert(buckets.of(first) <= buckets.of(second))
      assert(buckets.of(second) <= buckets.of(limit))
      assert(buckets.of(limit) == TimeBuckets.Count - 1)
    }
  }

  test("the earliest of all times is after rows without a time") {
    val buckets = new TimeBuckets(Long.MaxValue)
    assert(buckets.of(Long.MinValue) == TimeBuckets.Timeless + 1)
  }

  test("no bucket has more than an eighth of evenly distributed times") {
    for (span <- Seq(1000, 4096, 4608, 100000)) {
      val buckets = new TimeBuckets(span)
      val largest = (1 to span).groupBy(t => buckets.of(t.toLong)).values.map(_.length).max
      assert(largest <= span / 8)
    }
  }
}
