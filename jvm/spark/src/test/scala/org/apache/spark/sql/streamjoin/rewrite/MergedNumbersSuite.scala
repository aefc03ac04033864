package org.apache.spark.sql.streamjoin.rewrite

import org.apache.spark.sql.streamjoin.checkpoint._
import org.apache.spark.sql.types.TimestampType
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.placement.{ReachBuckets, Routing}

class MergedNumbersSuite extends AnyFunSuite {

  private def merged(routing: Routing, numbers: Map[String, Long]*): MergedNumbers = {
    val surveys = numbers.zipWithIndex.map { case (own, p) =>
      Survey(p, own, BySide(Nil, Nil), Map.empty, ())
    }
    val share = Share(3, BySide(10L, 20L))
    new MergedNumbers(described, routing, routing, surveys, Map(1 -> share))
  }

  private val described = {
    val times = BySide.of(s => StoredTime(s"${s.name}.t", TimestampType))
    JoinDescription(
      "segments",
      JoinType.Inner,
      Routing.ByKey,
      Nil,
      DescribedTimes(Nil, Nil, times, BySide(Nil, Nil), Side.both.map(s => times(s) -> s.name)),
      None,
      DescribedKind.EventTime
    )
  }

  test("the merge finds a watermark, limit or clock that differs between partitions") {
    val equal = merged(Routing.ByKey, Map("watermark.0" -> 5L), Map("watermark.0" -> 5L))
    assert(equal.different == Nil)
    assert(equal.of(0) == Map("watermark.0" -> 5L))
    assert(equal.of(1)("watermark.0") == 5L)
    assert(merged(Routing.ByKey, Map("limit" -> 5L), Map("limit" -> 6L)).different == Seq("limit"))
    assert(merged(Routing.ByKey, Map("clock" -> 5L), Map.empty).different == Seq("clock"))
  }

  test("the checksum of the hot keys is left out, as their partitions are other ones") {
    val numbers = Map(HotKeySums.Name -> 7L, "watermark.0" -> 5L)
    val found = merged(Routing.ByTime(None, ReachBuckets(0, 5, 20)), numbers, numbers)
    assert(found.different == Nil)
    for (p <- 0 to 2) assert(found.of(p) == Map("watermark.0" -> 5L))
  }

  test("the disorder counts of a column are summed in the first partition") {
    val sum = merged(
      Routing.ByKey,
      Map("d0.has0" -> 1L, "d0.0" -> 5L, "d0.most" -> 7L),
      Map("d0.has0" -> 2L, "d0.1" -> 6L, "d0.most" -> 9L)
    )
    assert(sum.different == Nil)
    assert(sum.of(0) == Map("d0.has0" -> 3L, "d0.0" -> 5L, "d0.1" -> 6L, "d0.most" -> 9L))
    assert(sum.of(2) == Map.empty)
  }

  test("the disorder of a broadcast input counts once") {
    val copies = Map("d0.0" -> 5L, "d1.0" -> 5L)
    val sum = merged(Routing.Broadcast(Side.Left), copies, copies)
    assert(sum.of(0) == Map("d0.0" -> 10L, "d1.0" -> 5L))
  }

  test("the latest times are those of the rows in the new partition") {
    val times = merged(Routing.ByKey, Map("latest.0" -> 99L))
    assert(times.of(1) == Map("latest.0" -> 10L, "latest.1" -> 20L))
    assert(times.of(0) == Map.empty)
  }
}
