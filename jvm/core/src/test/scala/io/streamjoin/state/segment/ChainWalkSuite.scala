package io.streamjoin.state.segment

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.state.segment.pages.{SpillFile, SpilledBytes}
import io.streamjoin.testing.LocalFiles

class ChainWalkSuite extends AnyFunSuite {
  import SegmentJoinStateSuite.TextCodec

  private val span = 100L

  /** A side in which row `n` has the key `keyOf(n)`, and `n` as its time, its limit and its text. */
  private def sideOf(rows: Seq[Long])(keyOf: Long => Long): SegmentSide[String] = {
    val disk = new SpilledBytes(new SpillFile(LocalFiles.create))
    val side = new SegmentSide[String](1, span, TextCodec, disk)
    for (n <- rows) side.append(keyOf(n), n, Array(n), n.toString, matched = false)
    side
  }

  private def found(side: SegmentSide[String], key: Long, from: Long, to: Long): Seq[String] = {
    val probe = side.probe(key, from, to)
    try Iterator.continually(probe).takeWhile(_.hasNext).map(_.next().row).toList
    finally probe.close()
  }

  test(
    "a probe returns each row of its key and time range once, across any number of segments"
  ) {
    val random = new Random(1)
    val rows = random.shuffle((0L until 20000L).toList)
    for (keys <- Seq(1, 3, 100, 20000)) {
      val side = sideOf(rows)(_ % keys)
      for (_ <- 0 until 50) {
        val key = random.nextInt(keys).toLong
        val from = random.nextInt(20000).toLong
        // one segment, some, or all of the two hundred
        val to = from + Seq(0L, 10L, 150L, 2000L, 20000L)(random.nextInt(5))
        val expected = rows.filter(n => n % keys == key && n >= from && n <= to)
        assert(found(side, key, from, to).sorted == expected.map(_.toString).sorted)
      }
    }
  }

  test("a probe skips deleted rows and finds the rows behind them in the chain") {
    val side = sideOf(0L until 2000L)(_ % 2)
    val probe = side.probe(1, 0, 2000)
    while (probe.hasNext) {
      val row = probe.next()
      if (row.row.toLong % 3 == 0) probe.remove()
    }
    val left = (0L until 2000L).filter(n => n % 2 == 1 && n % 3 != 0)
    assert(found(side, 1, 0, 2000).map(_.toLong).sorted == left)
  }

  test("a closed probe returns no more rows, and the next probe starts over") {
    val side = sideOf(0L until 2000L)(_ => 7)
    val probe = side.probe(7, 0, 2000)
    for (_ <- 0 until 30) probe.next()
    probe.close()
    assert(!probe.hasNext)
    assertThrows[NoSuchElementException](probe.next())
    assert(found(side, 7, 5, 9).sorted == Seq("5", "6", "7", "8", "9"))
  }

  test("hasNext does not change the row that next returned") {
    val side = sideOf(0L until 2000L)(_ => 7)
    val probe = side.probe(7, 0, 2000)
    var seen = 0
    while (probe.hasNext) {
      val row = probe.next()
      val (key, text) = (row.key, row.row)
      probe.hasNext
      assert(row.key == key && row.row == text)
      seen += 1
    }
    assert(seen == 2000)
  }
}
