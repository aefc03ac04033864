package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.scalatest.funsuite.AnyFunSuite

class MovedWatermarksSuite extends AnyFunSuite {

  private val stored = Map(
    "watermark.1" -> 10L,
    "active.1" -> 11L,
    "groups.1" -> 12L,
    "group.1.w.a.b 1" -> 13L,
    "watermark.11" -> 20L,
    "limit" -> 30L,
    "d1.most" -> 40L
  )

  test("the numbers of a source column move with its groups, and no others") {
    assert(BaseWatermarks.moved(stored, 1, 0) == Map(
      "watermark.0" -> 10L,
      "active.0" -> 11L,
      "groups.0" -> 12L,
      "group.0.w.a.b 1" -> 13L
    ))
    assert(BaseWatermarks.moved(stored, 2, 0) == Map.empty)
  }

  test("the numbers of source columns are told from others") {
    assert(stored.keySet.filterNot(BaseWatermarks.isPart) == Set("limit", "d1.most"))
  }
}
