package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
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

  /** Whether the conjunct has a sum, which with times that are not ordinary may overflow and fail. */
  def hasSum: Boolean = conjunct.children.exists(!_.isInstanceOf[Attribute])

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

/** A conjunct that compares times of both inputs and yet bounds nothing, or less than it may seem. */
private[streamjoin] final case class RejectedBound(
    conjunct: Expression,
    reason: RejectedBound.Reason
)

private[streamjoin] object RejectedBound {
  sealed abstract class Reason(val text: String)
  case object InsideOr extends Reason("it stands inside OR, and not every branch bounds it")
  case object CalendarInterval extends Reason("months and years have no constant length")
  case object MixedTypes
      extends Reason(
        "times of different types (TIMESTAMP, TIMESTAMP_NTZ, DATE, numbers) lie at no constant distance"
      )
  case object WrapsAround
      extends Reason(
        "with spark.sql.ansi.enabled=false its numbers wrap around where they overflow; " +
          "CAST them to BIGINT before the sum, or use try_add and try_subtract"
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

/**
 * The time bounds of a join condition.
 *
 * Each conjunct that compares two times of one family at a constant distance is brought into the form
 * `later >= earlier - slack`; strict comparisons are tightened by one unit, for times are whole
 * numbers. A "time" is an event-time column, or any deterministic expression of one row that is
 * compared with one.
 *
 * Every bound holds for each pair of rows that the conjunct lets through; where the conjunct is a
 * single comparison at a constant distance it is also the tightest that does.
 */
private[streamjoin] final case class ConditionBounds(
    found: Seq[FoundBound],
    rejected: Seq[RejectedBound]
)

private[streamjoin] object ConditionBounds extends PredicateHelper {

  /**
   * @param condition the resolved condition
   * @param left the left input's columns
   * @param right the right input's columns
   * @param watermarked the event-time columns of both
   */
  def of(
      condition: Expression,
      left: AttributeSet,
      right: AttributeSet,
      watermarked: AttributeSet
  ): ConditionBounds = {
    val conjuncts = splitConjunctivePredicates(condition)
    val extraction =
      new BoundExtraction(left, right, watermarked, PresentColumns.of(conjuncts))
    val results = conjuncts.map(c => c -> extraction.of(c))
    ConditionBounds(
      connected(results.flatMap(_._2.found), watermarked),
      for ((c, result) <- results if extraction.mentionsTimesOfBoth(c); reason <- result.reason)
        yield RejectedBound(c, reason)
    )
  }

  /** Bounds that have to do with a watermarked column; others are comparisons of plain values. */
  private def connected(found: Seq[FoundBound], watermarked: AttributeSet): Seq[FoundBound] = {
    def ends(b: FoundBound) = Seq(b.later, b.earlier).map(new ExpressionKey(_))
    def grow(reached: Set[ExpressionKey]): Set[ExpressionKey] = {
      val next = reached ++ found.filter(ends(_).exists(reached)).flatMap(ends)
      if (next.size == reached.size) reached else grow(next)
    }
    val reached = grow(watermarked.toSeq.map(new ExpressionKey(_)).toSet)
    found.filter(ends(_).exists(reached))
  }
}

/** Columns that are not null in any pair of rows that a condition lets through. */
private[streamjoin] object PresentColumns {

  def of(conjuncts: Seq[Expression]): AttributeSet = AttributeSet(conjuncts.flatMap(required))

  /** The columns without which an expression is null. */
  private def strict(e: Expression): Seq[Attribute] = e match {
    case a: Attribute          => Seq(a)
    case r: RuntimeReplaceable => strict(r.replacement)
    case _ if e.nullIntolerant => e.children.flatMap(strict)
    case _                     => Nil
  }

  /** The columns without which a predicate is not true. */
  private def required(e: Expression): Seq[Attribute] = e match {
    case IsNotNull(c)        => strict(c)
    case And(l, r)           => required(l) ++ required(r)
    case Or(l, r)            => required(l).intersect(required(r))
    case In(value, _)        => strict(value)
    case c: BinaryComparison => strict(c)
    case Not(c)              => strict(c)
    case r: RetentionLimit   => required(r.child)
    case _                   => Nil
  }
}
