package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeRow}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription

import io.streamjoin.model.{BySide, Side, Watermarks}
import io.streamjoin.placement.Routing

/**
 * How an operator stores rows, for a state that is written without running the operator.
 *
 * @param columns the columns of the stored rows of each side
 * @param placedBy the expressions by whose hash the rows of a side are distributed over partitions
 */
private[streamjoin] abstract class StoredLayout(
    val description: JoinDescription,
    val routing: Routing,
    val columns: BySide[Seq[Attribute]],
    val placedBy: BySide[Seq[Expression]]
) extends Serializable {

  /** The columns that stored rows must have a value of: those of keys and event times. */
  def required(side: Side): Seq[Attribute]

  /** The columns that are never NULL in the query. */
  final def present(side: Side): Seq[Attribute] = columns(side).filterNot(_.nullable)

  /** Whether later changes find a stored row by all of its columns, so that none can be added. */
  def isFoundByAll(side: Side): Boolean = false

  /**
   * For each side, the watermarks that evict its rows, in the order of their limits. Without an
   * override, a row has one limit, and no row is evicted.
   *
   * @param base the watermarks of the source columns
   */
  def evicting(base: Array[Long]): BySide[Seq[Long]] = BySide.of(_ => Seq(Watermarks.Unknown))

  /** Reads rows in one task. */
  def reader(): StoredLayout.Reader
}

private[streamjoin] object StoredLayout {

  /**
   * Where a row is stored. It is valid until the next row is read.
   *
   * @param canMatch whether a later row of the other side may match it
   */
  final case class Place(key: Long, time: Long, limits: Array[Long], canMatch: Boolean)

  trait Reader {

    /** @param matched whether the stored flag of the row is set */
    def apply(side: Side, row: UnsafeRow, matched: Boolean): Place
  }
}
