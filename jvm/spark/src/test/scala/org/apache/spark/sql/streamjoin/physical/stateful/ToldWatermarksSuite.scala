package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.model.Watermarks

/** With what a batch begins whose tasks read their inputs by themselves. */
class ToldWatermarksSuite extends AnyFunSuite {

  private val bases = Seq(
    imposed("a", idleTimeoutMs = Some(100L)),
    imposed("b", idleTimeoutMs = None)
  )

  private def imposed(name: String, idleTimeoutMs: Option[Long]) = BaseColumn.Imposed(
    UUID.randomUUID(),
    name,
    TimeUnit.Number,
    3L,
    idleTimeoutMs,
    imposed = true,
    None,
    None
  )

  private def settled(some: Seq[PartitionWatermarks]) =
    PartitionWatermarks.all(some, bases, Map(0 -> Set(1), 1 -> Set(0)))

  private def accumulator(some: PartitionWatermarks*)
      : CollectionAccumulator[PartitionWatermarks] = {
    val told = new CollectionAccumulator[PartitionWatermarks]
    some.foreach(told.add)
    told
  }

  test("all have seen what one of them has") {
    val all = settled(Seq(
      PartitionWatermarks(0, Seq(5L, 7L), Seq(1000L, 1000L), 1000L),
      PartitionWatermarks(1, Seq(9L, 2L), Seq(950L, 1000L), 1000L)
    ))
    assert(all.watermarks.toSeq == Seq(9L, 7L))
    assert(all.lastActiveMs.toSeq == Seq(Some(1000L), Some(1000L)))
  }

  test("an input goes with the other one when no partition has seen a row of it for long enough") {
    def after(activeOfOne: Long) = settled(Seq(
      PartitionWatermarks(0, Seq(5L, 70L), Seq(800L, 1000L), 1000L),
      PartitionWatermarks(1, Seq(9L, 20L), Seq(activeOfOne, 1000L), 1000L)
    )).watermarks.toSeq
    assert(after(901L) == Seq(9L, 70L))
    assert(after(900L) == Seq(70L, 70L))
  }

  test("nobody has seen anything before the first batch") {
    val none = settled(Nil)
    assert(none.watermarks.toSeq == Seq.fill(2)(Watermarks.Unknown))
    assert(none.lastActiveMs.toSeq == Seq(None, None))
  }

  private val zero = PartitionWatermarks(0, Seq(5L, 7L), Seq(1L, 1L), 1L)
  private val one = PartitionWatermarks(1, Seq(9L, 2L), Seq(1L, 1L), 1L)

  private def at(told: ToldWatermarks, version: Long)(read: => Seq[PartitionWatermarks]) =
    told.at(version, partitions = 2, settled)(read).watermarks.toSeq

  private def unread: Seq[PartitionWatermarks] = fail("it is known without the checkpoint")

  test("within a run tasks tell it, and the checkpoint is not read") {
    val told = new ToldWatermarks
    assert(at(told, 0)(Nil) == Seq.fill(2)(Watermarks.Unknown))
    // one of them ran twice
    told.listen(0, accumulator(zero, one, one))
    assert(told.of(0).length == 2 && told.of(1).isEmpty)
    assert(at(told, 1)(unread) == Seq(9L, 7L))
    // the plan of one batch may be made more than once, and begins with the same
    told.listen(1, accumulator(one.copy(now = Seq(20L, 20L))))
    assert(at(told, 1)(unread) == Seq(9L, 7L))
  }

  test("a run begins with the checkpoint, and goes back to it where not all have told") {
    val told = new ToldWatermarks
    assert(at(told, 7)(Seq(zero, one)) == Seq(9L, 7L))
    told.listen(7, accumulator(zero))
    assert(at(told, 8)(Seq(zero, one.copy(now = Seq(11L, 2L)))) == Seq(11L, 7L))
  }
}
