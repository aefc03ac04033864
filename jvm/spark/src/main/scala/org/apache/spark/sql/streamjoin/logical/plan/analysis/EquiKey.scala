package org.apache.spark.sql.streamjoin.logical.plan.analysis

import org.apache.spark.sql.catalyst.expressions.{CollationAwareXxHash64, Expression, IsNotNull}
import org.apache.spark.sql.types._

import io.streamjoin.model.{BySide, Side}

/** An equality between the inputs, by which rows are partitioned and looked up. */
private[streamjoin] final case class EquiKey(
    left: Expression,
    right: Expression,
    nullSafe: Boolean
) {

  def of(side: Side): Expression = BySide(left, right)(side)
}

private[streamjoin] object EquiKey {

  /** The conditions that a row of a side needs to match: no NULL in an equality. */
  def notNull(keys: Seq[EquiKey], side: Side): Seq[Expression] =
    keys.filterNot(_.nullSafe).map(_.of(side)).filter(_.nullable).map(IsNotNull(_))
}

/** Hash of the key by which rows are looked up. */
private[streamjoin] object KeyHash {

  /** @param keys the keys of one side */
  def of(keys: Seq[Expression]): Expression = CollationAwareXxHash64(keys, Seed)

  /** The seed, and the hash if all keys are NULL. */
  val Seed: Long = 42L

  /** Whether an expression is such a hash. */
  def is(e: Expression): Boolean = e match {
    case CollationAwareXxHash64(_, seed) => seed == Seed
    case _                               => false
  }

  /**
   * Whether equal hashes imply equal keys. XXH64 over a single word is invertible: it consists of
   * multiplications by odd numbers, rotations, and exclusive ors with the word's own upper bits.
   */
  def isExact(keys: Seq[EquiKey]): Boolean = keys match {
    case Seq(key) if !key.nullSafe =>
      key.left.dataType match {
        case _: IntegralType | DateType | TimestampType | TimestampNTZType => true
        case _                                                             => false
      }
    case _ => false
  }
}
