package io.streamjoin.state.segment.history

import java.io.{DataOutputStream, IOException}
import java.util.Arrays

import scala.collection.mutable

import io.streamjoin.model.{BySide, Side}

/**
 * Head of a version.
 *
 * @param nextId the id of the next row that is stored
 * @param watermarks for each side and by limit, those of the last eviction
 */
private[segment] final case class ChangeHead(nextId: Long, watermarks: Side => Array[Long])

/**
 * A row of a version. One object is reused for one row after another; its bytes are where they
 * were read.
 */
final class ChangeRow {
  var side: Side = _
  var matched: Boolean = false
  var id: Long = 0L
  var key: Long = 0L
  var time: Long = 0L
  var limits: Array[Long] = Array.emptyLongArray
  var bytes: Array[Byte] = Array.emptyByteArray
  var offset: Int = 0
  var size: Int = 0
}

/**
 * Writer of one version of a state. A version has three parts: live rows that were appended,
 * ids of earlier rows that were joined for the first time, and ids of earlier rows that were
 * removed one by one. Evicted rows are not written: they follow from the watermarks.
 *
 * {{{
 *   head      -1, next id, number of sets of rows, for each: name, count, watermarks
 *   rows      for each: 1 + (size/8, matched, set), distance of its id, key, distance of its time,
 *             distance of each limit from the time, bytes;   then 0
 *   ids       for each set: those marked, those removed: count, distances
 * }}}
 *
 * The sets of rows are the sides, with their names. Format 1 had no names, and no -1. Numbers
 * and distances are those of [[PackedOutput]].
 */
private[segment] final class ChangeWriter(stream: DataOutputStream, head: ChangeHead) {
  import ChangeFormat._

  private val out = new PackedOutput(stream)

  private var lastId = 0L
  private val lastTime = Array(0L, 0L)
  private val limitCount = Side.both.map(head.watermarks(_).length).toArray

  out.number(Named)
  out.number(head.nextId)
  out.number(Side.both.length.toLong)
  for (side <- Side.both) {
    out.text(side.name)
    out.number(limitCount(side.index).toLong)
    head.watermarks(side).foreach(out.long)
  }

  def row(row: ChangeRow): Unit = {
    val s = row.side.index
    out.number(1 + ((row.size.toLong >>> 3) << 2 | (if (row.matched) 2L else 0L) | s))
    out.distance(row.id - lastId)
    lastId = row.id
    out.long(row.key)
    out.distance(row.time - lastTime(s))
    lastTime(s) = row.time
    var k = 0
    while (k < limitCount(s)) {
      out.distance(row.limits(k) - row.time)
      k += 1
    }
    out.bytes(row.bytes, row.offset, row.size)
  }

  /** The ids may be in any order, and are in ascending order afterwards. */
  def end(
      marked: Side => Array[Long] = _ => Array.emptyLongArray,
      removed: Side => Array[Long] = _ => Array.emptyLongArray
  ): Unit = {
    out.number(0L)
    for (side <- Side.both; ids <- Seq(marked(side), removed(side))) put(ids)
    out.flush()
  }

  private def put(ids: Array[Long]): Unit = {
    out.number(ids.length.toLong)
    Arrays.sort(ids)
    var last = 0L
    var n = 0
    while (n < ids.length) {
      out.distance(ids(n) - last)
      last = ids(n)
      n += 1
    }
  }
}

/** Reader of what a [[ChangeWriter]] has written. */
private[segment] final class ChangeReader(in: PackedInput) {
  import ChangeFormat._

  val head: ChangeHead = {
    val first = in.number()
    val named = first == Named
    val nextId = if (named) in.number() else first
    if (named && in.number() != Side.both.length) throw new IOException("it has other sets of rows")
    val watermarks = BySide.of { side =>
      if (named && in.text() != side.name) throw new IOException("it has other sets of rows")
      Array.fill(sized(in.number()))(in.long())
    }
    ChangeHead(nextId, watermarks)
  }

  private val lastTime = Array(0L, 0L)
  private val limits = Side.both.map(side => new Array[Long](head.watermarks(side).length)).toArray
  private val sides = Side.both.toArray
  private var lastId = 0L

  /** Reads the next row. Returns false if there is none. Then call [[ids]]. */
  def next(row: ChangeRow): Boolean = {
    val first = in.number()
    if (first != 0) {
      val code = first - 1
      val s = (code & 1).toInt
      row.side = sides(s)
      row.matched = (code & 2) != 0
      row.size = sized(code >>> 2 << 3)
      lastId += in.distance()
      row.id = lastId
      row.key = in.long()
      lastTime(s) += in.distance()
      row.time = lastTime(s)
      row.limits = limits(s)
      var k = 0
      while (k < row.limits.length) {
        row.limits(k) = row.time + in.distance()
        k += 1
      }
      row.offset = in.take(row.size)
      row.bytes = in.bytes
    }
    first != 0
  }

  /** By side, the ids of marked rows and of removed rows. */
  def ids(): BySide[(Array[Long], Array[Long])] = BySide.of { _ =>
    val marked = readIds(in)
    marked -> readIds(in)
  }
}

private object ChangeFormat {

  /** Instead of the next id, which is never negative. */
  val Named: Long = -1L

  /** A count of bytes or entries, which may be damaged. */
  def sized(n: Long): Int =
    if (n < 0 || n > Int.MaxValue - 16) throw new IOException(s"it has a size of $n") else n.toInt

  private val MostAtOnce = 1 << 16

  def readIds(in: PackedInput): Array[Long] = {
    val count = sized(in.number())
    // a damaged count may be anything: no more memory is taken than there are bytes
    val result = mutable.ArrayBuilder.make[Long]
    result.sizeHint(math.min(count, MostAtOnce))
    var last = 0L
    for (_ <- 0 until count) {
      last += in.distance()
      result += last
    }
    result.result()
  }
}
