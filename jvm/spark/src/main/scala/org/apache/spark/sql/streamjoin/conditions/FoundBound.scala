package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.streamjoin.spark.TimestampAddInterval
import org.apache.spark.sql.types.{DataType, LongType, TimestampNTZType, TimestampType}

import io.streamjoin.bounds.Saturated

/**
 * A time bound found in a condition: `later >= earlier - slack`, between expressions of one row each.
 *
 * @param widened whether rounding, or days of 23 to 25 hours, make the slack wider than what is written
 * @param conjunct the part of the condition it came from
 */
private[streamjoin] final case class FoundBound(
    later: Expression,
    earlier: Expression,
    slack: Long,
    widened: Boolean,
    conjunct: Expression
) {

  /**
   * Whether the conjunct says this and no more of two ordinary times, see [[Saturated.isOrdinary]]. It
   * compares two of them, each as it is or at a constant distance.
   */
  def isWholeConjunct: Boolean = !widened && (conjunct match {
    case _: EqualTo | _: EqualNullSafe => false
    case c: BinaryComparison =>
      c.children.forall(distance(_).exists(_ <= Saturated.OrdinaryDistance))
    case _ => false
  })

  /**
   * Whether it is the conjunct of ordinary times only. With others a sum may overflow and fail; and nothing is later
   * than the last time there is, where a bound that overflows stands at it.
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
