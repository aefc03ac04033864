package io.streamjoin.watermark

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class DisorderSketchSuite extends AnyFunSuite {

  private def of(distances: Long*): DisorderSketch = {
    val sketch = new DisorderSketch
    distances.foreach(sketch.note)
    sketch
  }

  test("a lag of zero covers an empty sketch and rows in order") {
    for (sketch <- Seq(of(), of(0, -5, Long.MinValue)))
      assert((sketch.covering(0.999), sketch.greatest) == ((0L, 0L)))
  }

  test("a lag that covers 99.9 % ignores the one outlier of a thousand rows") {
    val sketch = of(Seq.fill(999)(40L) :+ 180L: _*)
    assert((sketch.rows, sketch.greatest, sketch.covering(1)) == ((1000L, 180L, 180L)))
    assert(sketch.covering(0.999) == 47)
  }

  test(
    "the lag that covers a distance exceeds it by at most half"
  ) {
    val random = new Random(5)
    val distances =
      (1L to 70L) ++ Seq.fill(1000)(random.nextLong() >>> (1 + random.nextInt(60))) ++
        Seq(Long.MaxValue - 1, Long.MaxValue)
    for (distance <- distances if distance > 0) {
      // the sketch stores the greatest distance exactly, so a larger one is added
      val lag = of(distance, Long.MaxValue).covering(0.5)
      assert(lag >= distance)
      assert(lag - distance <= distance / 2, distance)
    }
  }

  test("a lag covers the required share of random distances, compared with sorting them") {
    val random = new Random(7)
    for (_ <- 1 to 200) {
      val distances = Seq.fill(1 + random.nextInt(300))(random.nextLong() >> random.nextInt(60))
      val sketch = of(distances: _*)
      for (share <- Seq(0.5, 0.9, 0.999, 1.0)) {
        val needed =
          math.max(0, distances.sorted.apply(math.ceil(share * distances.size).toInt - 1))
        assert(sketch.covering(share) >= needed)
        assert(sketch.covering(share) - needed <= needed / 2)
      }
      assert(sketch.greatest == math.max(0, distances.max))
    }
  }

  test("the merged sketches of two parts equal the sketch of the whole") {
    val (some, others) = (Seq(3L, 70L, 70L, 0L), Seq(500L, 3L))
    val sum = of(some: _*)
    of(others: _*).filled.foreach { case (bucket, rows) => sum.add(bucket, rows) }
    sum.raise(of(others: _*).greatest)
    val whole = of(some ++ others: _*)
    assert((sum.filled, sum.rows, sum.greatest) == ((whole.filled, whole.rows, whole.greatest)))
    assert(whole.filled.keys.forall(b => b >= 0 && b < DisorderSketch.Buckets))
  }
}
