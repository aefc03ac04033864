package io.streamjoin.state.segment

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.state.segment.pages.{SlotPages, SpillFile, SpilledBytes}
import io.streamjoin.testing.LocalFiles

/** Which segments are spilled, and where they are in the list of their side afterwards. */
class SpillPolicySuite extends AnyFunSuite {

  /** Segments of a side that are searched on the disk, and may be recalled. */
  private def filled(rows: Int): SegmentList = {
    val disk = new SpilledBytes(
      new SpillFile(LocalFiles.create),
      mayRecall = _ => true,
      searchedFrom = 1
    )
    val list = new SegmentList(1000, new Segment(_, _, 1, disk))
    for (n <- 0 until rows) list.forRow(n.toLong).append(
      n.toLong,
      n.toLong,
      Array(n.toLong),
      "x" * 100,
      SegmentJoinStateSuite.TextCodec,
      matched = false,
      n.toLong
    )
    list.all.foreach(_.seal())
    list
  }

  test("the bytes of the rows that expire last are spilled first") {
    val list = filled(10000)
    new SpillPolicy(Seq(list)).spillRows(list.rowBytes / 2)
    val inMemory = list.inOrder().toSeq.take(list.size).map(_.bytes.allocated > 0)
    assert(inMemory.distinct == Seq(true, false))
  }

  test("a segment that is recalled and spilled again is in the list once") {
    val list = filled(100)
    val policy = new SpillPolicy(Seq(list))
    val segment = list.all.next()
    for (_ <- 1 to 3) {
      policy.spillNumbers(1)
      assert(segment.isSearched && segment.isClosed && list.all.toSeq == Seq(segment))
      val hash = SlotPages.hash(7)
      while (segment.isSearched)
        if (segment.chain(hash) == Segment.OnDisk) segment.search(7, hash, 0, 100, _ => ())
      segment.seal()
    }
  }
}
