package io.streamjoin.state.segment

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class HashFilterSuite extends AnyFunSuite {

  test("what was added is let through, of the rest one in a hundred or two") {
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

  test("hashes that differ in a bit, or follow each other, are distinguished as well") {
    for (distance <- Seq(1, 1 << 16, 1 << 28)) {
      val filter = new HashFilter(1000)
      for (n <- 0 until 1000) filter.add(n * distance * 2)
      val others = (0 until 1000).map(_ * distance * 2 + distance)
      val added = (0 until 1000).map(_ * distance * 2).toSet
      assert(others.filterNot(added).count(filter.mayContain) <= 40)
    }
  }
}
