package io.streamjoin.join.changelog

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side.Left

/** The cached numbers of partners, without a join. */
class PartnerCountsSuite extends AnyFunSuite {

  test("rows that are equal in the condition share a number, which changes once for each key") {
    val counts = new PartnerCounts
    counts.begin()
    counts.put(Left, key = 1, seen = "a", partners = 3)
    counts.begin()
    for (_ <- 1 to 3)
      assert(counts.change(Left, key = 1, seen = "a", lost = 1, won = 2).contains(2))
    counts.begin()
    assert(counts.change(Left, key = 1, seen = "a", lost = 4, won = 0).contains(0))
    assert(counts.change(Left, key = 1, seen = "b", lost = 1, won = 0).isEmpty)
  }

  test("the cache is cleared when most of its numbers are of deleted rows, not of forgotten ones") {
    val counts = new PartnerCounts
    counts.begin()
    counts.put(Left, key = 1, seen = "stays", partners = 1)
    for (n <- 0 until 3 * PartnerCounts.Spare) {
      counts.put(Left, key = 1, seen = Int.box(n), partners = 1)
      counts.forget(Left, key = 1, seen = Int.box(n))
      counts.put(Left, key = 2, seen = Int.box(n), partners = 1)
      counts.forget(Left, key = 2)
    }
    counts.end(_ => 1L)
    assert(counts.has(Left, key = 1))
    for (n <- 0 to PartnerCounts.Spare) counts.put(Left, key = 1, Int.box(n), partners = 1)
    counts.end(_ => PartnerCounts.Spare.toLong)
    assert(counts.has(Left, key = 1))
    counts.end(_ => 1L)
    assert(counts.isEmpty)
  }
}
