package io.streamjoin.state.segment.index

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class HashFilterSuite extends AnyFunSuite {

  test("the filter passes all added hashes and less than 2 % of the others") {
    val random = new Random(1)
    for (count <- Seq(0, 1, 50, 3000, 200000)) {
      val filter = new HashFilter(count)
      val added = Seq.fill(count)(random.nextInt())
      added.foreach(filter.add)
      assert(added.forall(filter.mayContain))
      val others = Seq.fill(50000)(random.nextInt()).filterNot(added.toSet)
      assert(others.count(filter.mayContain) < 50000 / 50)
      assert(filter.allocated <= count * 5L / 4 + 64)
    }
  }

  test("the filter distinguishes hashes that differ in one bit or are consecutive") {
    for (distance <- Seq(1, 1 << 16, 1 << 28)) {
      val filter = new HashFilter(1000)
      for (n <- 0 until 1000) filter.add(n * distance * 2)
      val others = (0 until 1000).map(_ * distance * 2 + distance)
      val added = (0 until 1000).map(_ * distance * 2).toSet
      assert(others.filterNot(added).count(filter.mayContain) <= 40)
    }
  }
}
