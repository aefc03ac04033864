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
    case a: Attribute                                       => Option.when(isTime(a))(BigInt(0))
    case TimestampAddInterval(time, by, _)                  => sum(time, by)
    case Add(time, by, _) if time.dataType == LongType      => sum(time, by)
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

  private def isTime(a: Attribute): Boolean =
    Seq(TimestampType, TimestampNTZType, LongType).contains(a.dataType)
}

/**
 * A conjunct that compares times of both inputs, but implies no bound or a weaker one than
 * expected.
 *
 * @param types types of its event times
 */
private[streamjoin] final case class RejectedBound(
    conjunct: Expression,
    reason: RejectedBound.Reason,
    types: Seq[DataType]
) {

  /** The reason, for an error message. */
  def text: String = reason match {
    case RejectedBound.MixedTypes if types.length > 1 =>
      val named = types.map(_.sql).mkString(" and ")
      if (types.exists(TimeUnit.of(_).contains(TimeUnit.Number))) {
        s"its event times are $named, and numbers and times have no common unit"
      } else {
        s"its event times are $named, and their distance depends on the time zone"
      }
    case other => other.text
  }
}

private[streamjoin] object RejectedBound {
  sealed abstract class Reason(val text: String)
  case object InsideOr extends Reason("it is inside OR, and not each branch bounds the state")
  case object AnyDistance
      extends Reason("it also holds for times at any distance")
  case object CalendarInterval extends Reason("months and years have no constant length")
  case object MixedTypes
      extends Reason(
        "times of different types (TIMESTAMP, TIMESTAMP_NTZ, DATE, numbers) have no constant " +
          "distance"
      )
  case object WrapsAround
      extends Reason(
        "with spark.sql.ansi.enabled=false its numbers wrap around on overflow. CAST them to " +
          "BIGINT before the sum, or use try_add, try_subtract and try_multiply"
      )
  case object NullSafe
      extends Reason("<=> also matches NULL with NULL, and the join would buffer such rows for " +
        "ever")
  case object SkipsNull
      extends Reason(
        "greatest and least ignore NULL, so a row without one of the times could match any row. " +
          "Add IS NOT NULL for each of the times"
      )
  case object FloatingPoint
      extends Reason(
        "floating-point numbers are rounded. Use unix_micros, unix_millis or unix_seconds"
      )
  case object NotConstant
      extends Reason(
        "it has no constant distance between one time of each input. Add the distance in a " +
          "column to the time of its own row (o.time + o.wait >= d.time)"
      )
}
