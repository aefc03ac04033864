package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{CollationAwareXxHash64, Expression}
import org.apache.spark.sql.types._

import io.streamjoin.model.{BySide, Side}

/** An equality between the inputs, by which rows are distributed and looked up. */
private[streamjoin] final case class EquiKey(
    left: Expression,
    right: Expression,
    nullSafe: Boolean
) {

  def of(side: Side): Expression = BySide(left, right)(side)
}

/** The number that a row's keys are looked up by. */
private[streamjoin] object KeyHash {

  /** @param keys of one side */
  def of(keys: Seq[Expression]): Expression = CollationAwareXxHash64(keys, Seed)

  /** What it begins with, and what it is where all keys are NULL. */
  val Seed: Long = 42L

  /** Whether it is such a hash. */
  def is(e: Expression): Boolean = e match {
    case CollationAwareXxHash64(_, seed) => seed == Seed
    case _                               => false
  }

  /**
   * Whether two rows with one hash have one key. The steps of XXH64 over a single word (multiplication
   * by an odd number, rotation, exclusive or with its own upper bits) can all be undone.
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
