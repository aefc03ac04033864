package io.streamjoin.state.segment

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class SlotPagesSuite extends AnyFunSuite {

  test("keys in ascending order go through the slots from one end of memory to the other") {
    val random = new Random(1)
    for (expected <- Seq(1, 1000, 100000)) {
      val slots = new SlotPages(expected)
      val keys = Seq.fill(10000)(random.nextLong()).sorted
      for (some <- Seq(keys.filter(_ >= 0), keys.filter(_ < 0)))
        assert(some.map(slots.slot) == some.map(slots.slot).sorted)
    }
  }

  test("a few keys that are no hashes have slots of their own") {
    val slots = new SlotPages(16)
    for (first <- Seq(0L, -8L)) {
      val keys = (0 until 16).map(first + _)
      assert(keys.map(slots.slot).distinct.length == keys.length)
    }
  }
}
