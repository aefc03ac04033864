package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeRow}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter

/**
 * Sorts rows by their hash, which is distributed evenly.
 *
 * {{{
 *   few rows           arrival order, with a sorted index; all rows fit into the CPU caches
 *   more rows          64 parts by the upper bits, each as above, read one after another
 *   more than memory   Spark's external sorter
 * }}}
 *
 * With one index over all rows, the reader would wait for memory at each row.
 *
 * @param fields the number of columns
 * @param memory grants the memory before it is used
 * @param spilling sorts by the same hash
 */
private[exchange] final class RowsByHash(
    fields: Int,
    hashOf: UnsafeRow => Long,
    memory: SortMemory,
    spilling: => UnsafeExternalRowSorter
) {
  import RowsByHash._

  private var parts = Array(new HashedPart)
  private var held = 0L

  def sorted(rows: Iterator[UnsafeRow]): Iterator[InternalRow] = {
    while (rows.hasNext) {
      if (!add(rows.next())) return spilled(rows)
    }
    inOrder
  }

  private def add(row: UnsafeRow): Boolean = {
    val hash = hashOf(row)
    val part = parts(if (parts.length == 1) 0 else partOf(hash))
    val before = part.bytes
    part.add(hash, row)
    val more = part.bytes - before
    if (more == 0) true
    else {
      if (parts.length == 1 && part.bytes > FewBytes) divide(part)
      held += more
      memory.holds(held)
    }
  }

  private def divide(all: HashedPart): Unit = {
    parts = Array.fill(Parts)(new HashedPart)
    val row = new UnsafeRow(fields)
    var i = 0
    while (i < all.length) {
      all.show(i, row)
      parts(partOf(all.hash(i))).add(all.hash(i), row)
      i += 1
    }
  }

  private def spilled(others: Iterator[UnsafeRow]): Iterator[InternalRow] = {
    val sorter = spilling
    val row = new UnsafeRow(fields)
    for (p <- parts.indices) {
      for (i <- 0 until parts(p).length) {
        parts(p).show(i, row)
        sorter.insertRow(row)
      }
      parts(p) = null
    }
    memory.free()
    while (others.hasNext) sorter.insertRow(others.next())
    sorter.sort()
  }

  private def inOrder: HashedRows = new HashedRows {
    private val shared = if (parts.length == 1) 0 else PartBits
    private val row = new UnsafeRow(fields)
    private var begun = 0
    private var part: HashedPart = _
    private var order = Array.emptyIntArray
    private var at = 0
    private var last = 0L

    override def hash: Long = last

    override def hasNext: Boolean = {
      while (at == order.length && begun < parts.length) {
        part = parts(begun)
        parts(begun) = null
        begun += 1
        order = part.inOrder(shared)
        at = 0
      }
      val more = at < order.length
      if (!more) memory.free()
      more
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      part.show(order(at), row)
      last = part.hash(order(at))
      at += 1
      row
    }
  }
}

private[exchange] object RowsByHash {

  /** The rows in the order of the hash of some keys. Runs in a task. */
  def sorted(
      rows: Iterator[InternalRow],
      keys: Seq[Expression],
      columns: Seq[Attribute]
  ): Iterator[InternalRow] = {
    val hash = new RowHash(keys, columns)
    val hashOf = hash(_: UnsafeRow)
    new RowsByHash(
      columns.length,
      hashOf,
      SortMemory.of(TaskContext.get()),
      RowSorter.create(columns, hashOf, (_, _) => 0)
    ).sorted(rows.asInstanceOf[Iterator[UnsafeRow]])
  }

  private val PartBits = 6
  private val Parts = 1 << PartBits

  /** The most bytes that stay in the CPU caches. */
  private val FewBytes = 1L << 18

  /** Ascending by the signed hash. */
  private def partOf(hash: Long): Int = ((hash ^ Long.MinValue) >>> (64 - PartBits)).toInt
}

/** Rows with the hash by which they are sorted, so that a reader need not compute it again. */
private[physical] trait HashedRows extends Iterator[InternalRow] {

  /** The hash of the last row. */
  def hash: Long
}

/**
 * Reader of rows that are sorted by a hash. The rows of one hash are a run.
 *
 * @param hashOf computes the hash of a row, if the rows do not come with it
 */
private[physical] final class HashRuns(rows: Iterator[InternalRow], hashOf: => UnsafeRow => Long) {
  private var ahead: UnsafeRow = _
  private var aheadHash = 0L
  private val hashAhead: () => Long = rows match {
    case sorted: HashedRows => () => sorted.hash
    case _ =>
      val of = hashOf
      () => of(ahead)
  }
  advance()

  def nonEmpty: Boolean = ahead != null

  /** The hash of the next run. Valid if there is one. */
  def hash: Long = aheadHash

  /** Reads the next run, if it has this hash. A row is valid during its visit. */
  def read(hash: Long)(visit: UnsafeRow => Unit): Unit =
    while (nonEmpty && aheadHash == hash) {
      visit(ahead)
      advance()
    }

  private def advance(): Unit =
    if (rows.hasNext) {
      ahead = rows.next().asInstanceOf[UnsafeRow]
      aheadHash = hashAhead()
    } else ahead = null
}
