package io.streamjoin.state.segment

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.state.segment.pages.{SpillFile, SpilledBytes}
import io.streamjoin.testing.{LocalFiles, RandomCases}

class SegmentWidthSuite extends AnyFunSuite {

  private def side(span: Long): SegmentSide[String] = new SegmentSide[String](
    1,
    span,
    SegmentJoinStateSuite.TextCodec,
    new SpilledBytes(new SpillFile(LocalFiles.create))
  )

  private def append(side: SegmentSide[String], limit: Long): Unit =
    side.append(0, limit, Array(limit), "", matched = false)

  /** The number of rows in each segment after appending rows with these limits. */
  private def rowsOfSegments(span: Long)(limits: Iterator[Long]): Seq[Int] = {
    val side = this.side(span)
    limits.foreach(append(side, _))
    val rows = mutable.LinkedHashMap.empty[Segment, Int]
    side.foreachFresh((segment, _) => rows(segment) = rows.getOrElse(segment, 0) + 1)
    rows.values.toSeq
  }

  test("segments keep the least width if it gives them enough rows") {
    assert(rowsOfSegments(span = 100)((0L until 100000L).iterator).forall(_ == 100))
  }

  test("segments of unordered rows do not get wider than those of ordered rows") {
    for (disorder <- Seq(10, 1000, 10000)) {
      val random = new Random(disorder)
      val limits = Iterator.tabulate(200000)(n => n.toLong - random.nextInt(disorder))
      val rows = rowsOfSegments(span = 200)(limits)
      assert(rows.sum / rows.size <= 256, disorder)
      assert(rows.takeRight(rows.size / 2).max <= 512, disorder)
    }
  }

  test("segments get wider while rows are sparse, and narrower when rows are dense") {
    val sparse = (0L until 100000L).map(_ * 10)
    val dense = (0L until 100000L).map(sparse.last + _ / 10)
    val rows = rowsOfSegments(span = 16)(sparse.iterator ++ dense.iterator)
    val (first, last) = (rows.take(rows.size / 4), rows.takeRight(rows.size / 8))
    assert(first.drop(200).forall(n => n >= 32 && n <= 128))
    assert(last.forall(_ <= 256))
  }

  test("a row far ahead does not change the width of the following segments") {
    val sparse = (0L until 100000L).map(_ * 10)
    val alone = rowsOfSegments(span = 16)(sparse.iterator)
    val behind = rowsOfSegments(span = 16)(Iterator(Long.MaxValue / 2) ++ sparse)
    assert(math.abs(behind.size - alone.size) <= 16)
  }

  test("a row is in the segment of its limit, and the limits of segments do not overlap") {
    val disk = new SpilledBytes(new SpillFile(LocalFiles.create))
    RandomCases.forAll(100) { random =>
      val list = new SegmentList(1L << random.nextInt(6), new Segment(_, _, 1, disk))
      val range = 1 << (4 + random.nextInt(14))
      for (n <- 0 until 300) {
        val limit = n.toLong * random.nextInt(20) + random.nextInt(range) - range / 2
        val segment = list.forRow(limit)
        assert(segment.low <= limit && limit <= segment.high)
        assert(list.opened.sliding(2).forall(pair => pair.length < 2 || pair(0).high < pair(1).low))
      }
    }
  }

  test("a row at an end of the range of limits takes no other rows into its segment") {
    def allocated(first: Option[Long]): Long = {
      val tested = side(span = 1000)
      first.foreach(append(tested, _))
      for (n <- 0L until 100000L) {
        append(tested, n)
        if (n % 1000 == 0) {
          tested.discard(Array(n - 2000))
          tested.seal()
        }
      }
      tested.segments.all.map(_.allocated).sum
    }
    val without = allocated(None)
    for (first <- Seq(Long.MinValue, Long.MinValue + 999, Long.MaxValue - 999, Long.MaxValue))
      assert(allocated(Some(first)) < without * 2, first)
  }

  test("rows very far apart make fewer than 500 segments") {
    assert(rowsOfSegments(span = 1)((0L until 100000L).iterator.map(_ * 1000000)).size < 500)
  }
}
