package org.apache.spark.sql.streamjoin.rescale

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.logical.plan.KeyHash
import org.apache.spark.sql.streamjoin.physical.eventtime.BucketPlacement

/**
 * The expressions by which the rows of a side are distributed over the partitions.
 *
 * @param columns the stored columns of the side
 * @param hashed whether a row is stored under the hash of these expressions, in their partition. If
 *   not, a row may be in any partition
 */
private[rescale] final case class KeyReading(
    expressions: Seq[Expression],
    columns: Seq[Attribute],
    hashed: Boolean
) {

  /** Evaluates the expressions in one task. */
  def evaluated(from: Int, to: Int): KeyValues = new KeyValues(
    hashed,
    UnsafeProjection.create(
      Seq(
        KeyHash.of(expressions),
        BucketPlacement.partitionOf(expressions, from),
        BucketPlacement.partitionOf(expressions, to)
      ),
      columns
    )
  )
}

/** The hash of the key of one row after another, and the old and the new partition of the key. */
private[rescale] final class KeyValues(val hashed: Boolean, values: UnsafeProjection) {
  private var current: UnsafeRow = _

  def read(row: UnsafeRow): Unit = current = values(row)

  def hash: Long = current.getLong(0)

  def oldPartition: Int = current.getInt(1)

  def newPartition: Int = current.getInt(2)
}
