package org.apache.spark.sql.streamjoin.checkpoint.simulation

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{LongRow, StateShape, StoredNumbers}
import org.apache.spark.sql.types.{LongType, StructType}

import io.streamjoin.model.Side
import io.streamjoin.state.{BufferedRow, JoinState, Probed}

/**
 * A stateful operator whose tasks are simulated, with its input. The input consists of units, which
 * are not cut by batches.
 */
private[simulation] trait Operator {

  def partitions: Int

  def shape: StateShape

  /**
   * Runs the batch with these units in one partition, as a task does.
   *
   * @param random decides the order of rows that may come in any order
   * @return the output rows
   */
  def run(
      partition: Int,
      units: Range,
      state: JoinState[UnsafeRow],
      numbers: StoredNumbers,
      random: Random
  ): Seq[Any]

  /**
   * The output of a partition in each batch, from the definition of the result, without an operator
   * or a state.
   *
   * @param ends the number of units up to the end of each batch
   */
  def expected(partition: Int, ends: Seq[Int]): IndexedSeq[Seq[Any]]

  def shown(units: Range): String
}

private[simulation] object Operator {

  val schema: StructType = new StructType().add("n", LongType)

  /** The batches that end at these units. */
  def batches(ends: Seq[Int]): Seq[Range] = (0 +: ends).zip(ends).map { case (a, b) => a until b }
}

/** Rows of a history by number: the state stores the numbers. */
private[simulation] final class RowTable[R] {
  private val rows = mutable.ArrayBuffer.empty[R]
  private val numbers = mutable.HashMap.empty[R, Long]
  private val row = new LongRow(1)

  def encode(of: R): UnsafeRow = row(numbers.getOrElseUpdate(
    of, {
      rows += of
      rows.length - 1L
    }
  ))

  def decode(row: UnsafeRow): R = rows(row.getLong(0).toInt)
}

/** The state of an operator on rows of another type. */
private[simulation] final class DecodedState[R](state: JoinState[UnsafeRow], table: RowTable[R])
    extends JoinState[R] {

  override def probe(side: Side, key: Long, from: Long, to: Long): Probed[R] = {
    val found = state.probe(side, key, from, to)
    new Probed[R] {
      override def hasNext: Boolean = found.hasNext
      override def next(): BufferedRow[R] = decoded(found.next())
      override def setMatched(): Unit = found.setMatched()
      override def remove(): Unit = found.remove()
      override def close(): Unit = found.close()
    }
  }

  private def decoded(found: BufferedRow[UnsafeRow]): BufferedRow[R] = new BufferedRow[R] {
    override def row: R = table.decode(found.row)
    override def key: Long = found.key
    override def time: Long = found.time
    override def matched: Boolean = found.matched
  }

  override def append(
      side: Side,
      key: Long,
      time: Long,
      limits: Array[Long],
      row: R,
      matched: Boolean
  ): Unit = state.append(side, key, time, limits, table.encode(row), matched)

  override def evict(
      side: Side,
      before: Array[Long],
      now: Array[Long]
  ): Iterator[BufferedRow[R]] = state.evict(side, before, now).map(decoded)

  override def discard(side: Side, before: Array[Long], now: Array[Long]): Long =
    state.discard(side, before, now)

  override def least(side: Side, k: Int): Long = state.least(side, k)

  override def size(side: Side): Long = state.size(side)
}
