package io.streamjoin.state.segment.history

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataOutputStream}

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side

class ChangeFormatSuite extends AnyFunSuite {

  test("the reader returns numbers of any size and rows of any length as written") {
    val numbers = Seq(0L, 1L, -1L, 127L, 128L, Long.MaxValue, Long.MinValue, 1L << 35)
    val sizes = Seq(0, 8, 2048, 2056, 8192, 100000)
    val rows =
      for (n <- numbers; size <- sizes) yield (n, Array.tabulate(size)(i => (i * n).toByte))
    val written = new ByteArrayOutputStream
    val writer = new ChangeWriter(
      new DataOutputStream(written),
      ChangeHead(Long.MaxValue, side => if (side == Side.Left) Array(-5L) else Array())
    )
    for (((n, bytes), i) <- rows.zipWithIndex) {
      val row = new ChangeRow
      row.side = Side.both(i % 2)
      row.matched = i % 3 == 0
      row.id = n
      row.key = n ^ 42L
      row.time = n
      row.limits = Array(-n)
      row.bytes = bytes
      row.size = bytes.length
      writer.row(row)
    }
    writer.end(_ => Array(7L, 3L), _ => numbers.toArray)

    val reader = new ChangeReader(
      new PackedInput(new ByteArrayInputStream(written.toByteArray))
    )
    assert(reader.head.nextId == Long.MaxValue)
    assert(reader.head.watermarks(Side.Left).toSeq == Seq(-5L))
    val read = mutable.ArrayBuffer.empty[(Int, Boolean, Long, Long, Long, Seq[Long], Seq[Byte])]
    val row = new ChangeRow
    while (reader.next(row)) {
      val side = Side.both.indexOf(row.side)
      val bytes = row.bytes.slice(row.offset, row.offset + row.size).toSeq
      read += ((side, row.matched, row.id, row.key, row.time, row.limits.toSeq, bytes))
    }
    val expected = rows.zipWithIndex.map { case ((n, bytes), i) =>
      (i % 2, i % 3 == 0, n, n ^ 42L, n, if (i % 2 == 0) Seq(-n) else Nil, bytes.toSeq)
    }
    assert(read == expected)
    val ids = reader.ids()
    for ((marked, removed) <- Side.both.map(ids)) {
      assert(marked.toSeq == Seq(3L, 7L))
      assert(removed.toSeq == numbers.sorted)
    }
  }
}
