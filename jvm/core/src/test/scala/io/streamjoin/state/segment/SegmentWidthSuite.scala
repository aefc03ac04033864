package io.streamjoin.state.segment

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.testing.LocalFiles

class SegmentWidthSuite extends AnyFunSuite {

  /** How many rows each segment has after rows with these limits, by their limits. */
  private def rowsOfSegments(span: Long)(limits: Iterator[Long]): Seq[Int] = {
    val side = new SegmentSide[String](
      1,
      span,
      SegmentJoinStateSuite.TextCodec,
      new SpilledBytes(new SpillFile(LocalFiles.create))
    )
    for (limit <- limits) side.append(0, limit, Array(limit), "", matched = false)
    val rows = mutable.LinkedHashMap.empty[Segment, Int]
    side.foreachFresh((segment, _) => rows(segment) = rows.getOrElse(segment, 0) + 1)
    rows.values.toSeq
  }

  test("enough rows at the least width") {
    assert(rowsOfSegments(span = 100)((0L until 100000L).iterator).forall(_ == 100))
  }

  test("disorder fills the newest segments late: they are no wider for it") {
    for (disorder <- Seq(10, 1000, 10000)) {
      val random = new Random(disorder)
      val limits = Iterator.tabulate(200000)(n => n.toLong - random.nextInt(disorder))
      val rows = rowsOfSegments(span = 200)(limits)
      assert(rows.sum / rows.size <= 256, disorder)
      assert(rows.takeRight(rows.size / 2).max <= 512, disorder)
    }
  }

  test("few rows in each: wider until they are enough, and narrower again") {
    val sparse = (0L until 100000L).map(_ * 10)
    val dense = (0L until 100000L).map(sparse.last + _ / 10)
    val rows = rowsOfSegments(span = 16)(sparse.iterator ++ dense.iterator)
    val (first, last) = (rows.take(rows.size / 4), rows.takeRight(rows.size / 8))
    assert(first.drop(200).forall(n => n >= 32 && n <= 128))
    assert(last.forall(_ <= 256))
  }

  test("a row far ahead changes nothing for those that follow") {
    val sparse = (0L until 100000L).map(_ * 10)
    val alone = rowsOfSegments(span = 16)(sparse.iterator)
    val behind = rowsOfSegments(span = 16)(Iterator(Long.MaxValue / 2) ++ sparse)
    assert(math.abs(behind.size - alone.size) <= 16)
  }

  test("where a probe goes through all segments there are few, from the start") {
    assert(rowsOfSegments(span = 1)((0L until 100000L).iterator.map(_ * 1000000)).size < 500)
  }
}
