package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.streamjoin.spark.TimestampAddInterval
import org.apache.spark.sql.types.{DataType, LongType, TimestampNTZType, TimestampType}

import io.streamjoin.bounds.Saturated

/**
 * A time bound that a condition implies: `later >= earlier - slack`, between expressions of one row
 * each.
 *
 * @param widened whether rounding, or days of 23 to 25 hours, make the slack larger than written
 * @param conjunct the part of the condition that implies it
 */
private[streamjoin] final case class FoundBound(
    later: Expression,
    earlier: Expression,
    slack: Long,
    widened: Boolean,
    conjunct: Expression
) {

  /**
   * Whether the bound is equivalent to its conjunct for ordinary times, see
   * [[Saturated.isOrdinary]]. The conjunct must compare two times, each as a plain column or moved
   * by a constant.
   */
  def isWholeConjunct: Boolean = !widened && (conjunct match {
    case _: EqualTo | _: EqualNullSafe => false
    case c: BinaryComparison =>
      c.children.forall(distance(_).exists(_ <= Saturated.OrdinaryDistance))
    case _ => false
  })

  /**
   * Whether the bound is equivalent to its conjunct for ordinary times only. For others, a sum in
   * the conjunct may overflow and fail. A bound with negative slack saturates at the latest
   * possible time, and no time is later than that.
   */
  def needsOrdinary: Boolean = slack < 0 || conjunct.children.exists(!_.isInstanceOf[Attribute])

  private def distance(e: Expression): Option[BigInt] = e match {
    case a: Attribute                                  => Option.when(isTime(a.dataType))(BigInt(0))
    case TimestampAddInterval(time, by, _)             => sum(time, by)
    case Add(time, by, _) if time.dataType == LongType => sum(time, by)
    case Subtract(time, by, _) if time.dataType == LongType => sum(time, by)
    case _                                                  => None
  }

  private def sum(time: Expression, by: Expression): Option[BigInt] =
    if (!by.foldable) None
    else
      by.eval() match {
        case constant: Long => distance(time).map(_ + BigInt(constant).abs)
        case _              => None
      }

  private def isTime(dataType: DataType): Boolean = dataType match {
    case TimestampType | TimestampNTZType | LongType => true
    case _                                           => false
  }
}
