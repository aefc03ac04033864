package io.streamjoin.state.segment.pages

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class SlotPagesSuite extends AnyFunSuite {

  test("ascending keys have ascending slots") {
    val random = new Random(1)
    for (expected <- Seq(1, 1000, 100000)) {
      val slots = new SlotPages(expected)
      val keys = Seq.fill(10000)(random.nextLong()).sorted
      for (some <- Seq(keys.filter(_ >= 0), keys.filter(_ < 0)))
        assert(some.map(slots.slot) == some.map(slots.slot).sorted)
    }
  }

  test("sixteen consecutive keys have different slots") {
    val slots = new SlotPages(16)
    for (first <- Seq(0L, -8L)) {
      val keys = (0 until 16).map(first + _)
      assert(keys.map(slots.slot).distinct.length == keys.length)
    }
  }
}
