package org.apache.spark.sql.streamjoin.bounds

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.unsafe.types.CalendarInterval

import io.streamjoin.bounds.Saturated

/**
 * A time bound found in a condition: `later >= earlier - slack`, between expressions of one row each.
 *
 * @param conjunct the part of the condition it came from
 */
private[streamjoin] final case class FoundBound(
    later: Expression,
    earlier: Expression,
    slack: Long,
    conjunct: Expression
)

/** A conjunct that compares times of both inputs and yet bounds nothing. */
private[streamjoin] final case class RejectedBound(
    conjunct: Expression,
    reason: RejectedBound.Reason
)

private[streamjoin] object RejectedBound {
  sealed abstract class Reason(val text: String)
  case object InsideOr extends Reason("stands inside OR")
  case object CalendarInterval extends Reason("months and years have no constant length")
  case object NotConstant extends Reason("not a constant distance between one time of each input")
}

/**
 * The time bounds of a join condition.
 *
 * Each conjunct that compares two times of one family at a constant distance is brought into the form
 * `later >= earlier - slack`; strict comparisons are tightened by one unit, for times are whole
 * numbers. A "time" is an event-time column, or any deterministic expression of one row that is
 * compared with one.
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
    val extraction = new Extraction(left, right, watermarked)
    val results = splitConjunctivePredicates(condition).map(extraction.of)
    val found = results.collect { case Right(bounds) => bounds }.flatten
    ConditionBounds(
      connected(found, watermarked),
      results.collect { case Left(Some(rejected)) => rejected }
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

  private class Extraction(left: AttributeSet, right: AttributeSet, watermarked: AttributeSet) {

    private def oneSided(e: Expression): Boolean =
      e.references.nonEmpty && (e.references.subsetOf(left) || e.references.subsetOf(right))

    private def mayBeTerm(e: Expression): Boolean =
      e.deterministic && oneSided(e) && TimeUnit.of(e.dataType).nonEmpty && !inMonths(e)

    /** Months are refused even where each row by itself would say when it goes. */
    private def inMonths(e: Expression): Boolean = e.exists {
      case _: TimestampAddYMInterval | _: DateAddYMInterval => true
      case Literal(i: CalendarInterval, _)                  => i.months != 0
      case _                                                => false
    }

    private val linear = new LinearTimes(mayBeTerm)

    private def mentionsTimesOfBoth(e: Expression): Boolean = {
      val times = e.references.filter(watermarked.contains)
      e.references.intersect(left).nonEmpty && e.references.intersect(right).nonEmpty &&
      times.nonEmpty
    }

    def of(conjunct: Expression): Either[Option[RejectedBound], Seq[FoundBound]] = conjunct match {
      case Not(c: BinaryComparison) => negated(c).fold(rejected(conjunct, None))(of)
      case c: BinaryComparison      => compared(c)
      case _                        => rejected(conjunct, None)
    }

    private def negated(c: BinaryComparison): Option[Expression] = c match {
      case LessThan(l, r)           => Some(GreaterThanOrEqual(l, r))
      case LessThanOrEqual(l, r)    => Some(GreaterThan(l, r))
      case GreaterThan(l, r)        => Some(LessThanOrEqual(l, r))
      case GreaterThanOrEqual(l, r) => Some(LessThan(l, r))
      case _                        => None
    }

    private def compared(c: BinaryComparison): Either[Option[RejectedBound], Seq[FoundBound]] = {
      val attempts = for {
        l <- Seq(linear.of(c.left), linear.term(c.left)).distinct
        r <- Seq(linear.of(c.right), linear.term(c.right)).distinct
      } yield for (a <- l; b <- r; d <- pair(a - b)) yield d
      attempts.collectFirst { case Right((x, y, constant)) => bounds(c, x, y, constant) } match {
        case Some(found) => Right(found)
        case None =>
          rejected(c, attempts.collectFirst { case Left(NotLinear.CalendarUnits) => true })
      }
    }

    /** The difference as `x - y + constant`, when it has that form. */
    private def pair(d: LinearTime): Either[NotLinear, (Expression, Expression, LinearTime)] = {
      val (plus, minus) = d.terms.toSeq.partition(_._2 > 0)
      (plus, minus) match {
        case (Seq((x, 1)), Seq((y, -1))) if comparable(x.expression, y.expression) =>
          Right((x.expression, y.expression, d))
        case _ => Left(NotLinear.NotConstant)
      }
    }

    /** Two columns of one input are related only where both are event times. */
    private def comparable(x: Expression, y: Expression): Boolean = {
      val sameInput = x.references.subsetOf(left) == y.references.subsetOf(left)
      TimeUnit.of(x.dataType) == TimeUnit.of(y.dataType) &&
      (!sameInput || Seq(x, y).forall(_.references.subsetOf(watermarked)))
    }

    private def bounds(
        c: BinaryComparison,
        x: Expression,
        y: Expression,
        d: LinearTime
    ): Seq[FoundBound] = {
      def atLeast(strict: Boolean) =
        FoundBound(x, y, Saturated.subtract(d.high, if (strict) 1 else 0), c)
      def atMost(strict: Boolean) =
        FoundBound(y, x, Saturated.subtract(Saturated.subtract(0, d.low), if (strict) 1 else 0), c)
      c match {
        case _: EqualTo            => Seq(atLeast(strict = false), atMost(strict = false))
        case _: GreaterThan        => Seq(atLeast(strict = true))
        case _: GreaterThanOrEqual => Seq(atLeast(strict = false))
        case _: LessThan           => Seq(atMost(strict = true))
        case _: LessThanOrEqual    => Seq(atMost(strict = false))
        // null-safe equality lets null meet null, so it bounds nothing
        case _ => Nil
      }
    }

    private def rejected(
        conjunct: Expression,
        calendar: Option[Boolean]
    ): Either[Option[RejectedBound], Seq[FoundBound]] = {
      val reason =
        if (conjunct.exists(_.isInstanceOf[Or])) RejectedBound.InsideOr
        else if (calendar.contains(true)) RejectedBound.CalendarInterval
        else RejectedBound.NotConstant
      Left(Option.when(mentionsTimesOfBoth(conjunct))(RejectedBound(conjunct, reason)))
    }
  }
}
