package org.apache.spark.sql.streamjoin.rescale

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash
import org.apache.spark.sql.streamjoin.physical.eventtime.BucketPlacement

/**
 * The expressions by which the rows of a side are distributed over the partitions.
 *
 * @param columns the stored columns of the side
 * @param hashed whether a row is stored under the hash of these expressions
 * @param placed whether a row is in their partition. If not, it may be in any
 */
private[rescale] final case class KeyReading(
    expressions: Seq[Expression],
    columns: Seq[Attribute],
    hashed: Boolean,
    placed: Boolean
)

/**
 * The hash of the key of one row after another, and the old and the new partition of the key. It
 * serves one task.
 */
private[rescale] final class KeyValues(reading: KeyReading, from: Int, to: Int) {
  import reading.{columns, expressions, hashed}

  private val values = UnsafeProjection.create(
    Seq(
      KeyHash.of(expressions),
      BucketPlacement.partitionOf(expressions, from),
      BucketPlacement.partitionOf(expressions, to)
    ),
    columns
  )
  private var current: UnsafeRow = _

  def read(row: UnsafeRow): Unit = current = values(row)

  /** Whether the row is in the partition of its key. */
  def placed: Boolean = reading.placed

  /** Whether the row may be stored under a hash. */
  def isStoredUnder(hash: Long): Boolean = !hashed || current.getLong(0) == hash

  def oldPartition: Int = current.getInt(1)

  def newPartition: Int = current.getInt(2)
}
