package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.DataType

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
        s"its event times are $named, and a number is compared with a time row by row only"
      } else {
        s"its event times are $named, and how far these lie apart depends on the time zone"
      }
    case other => other.text
  }
}

private[streamjoin] object RejectedBound {
  sealed abstract class Reason(val text: String)
  case object InsideOr extends Reason("it stands inside OR, and not every branch bounds it")
  case object AnyDistance
      extends Reason("it also holds for times that lie any distance apart")
  case object CalendarInterval extends Reason("months and years have no constant length")
  case object MixedTypes
      extends Reason(
        "times of different types (TIMESTAMP, TIMESTAMP_NTZ, DATE, numbers) lie at no constant distance"
      )
  case object WrapsAround
      extends Reason(
        "with spark.sql.ansi.enabled=false its numbers wrap around where they overflow; " +
          "CAST them to BIGINT before the sum, or use try_add, try_subtract and try_multiply"
      )
  case object NullSafe
      extends Reason("<=> also lets NULL meet NULL, and such rows would be kept for ever")
  case object SkipsNull
      extends Reason(
        "greatest and least pass over NULL, so a row without one of the times could match any; " +
          "add IS NOT NULL for each of them"
      )
  case object FloatingPoint
      extends Reason(
        "floating-point numbers are rounded; use unix_micros, unix_millis or unix_seconds"
      )
  case object NotConstant
      extends Reason(
        "it is not a constant distance between one time of each input; a distance that a row brings " +
          "along is added to its own time (o.time + o.wait >= d.time)"
      )
}
