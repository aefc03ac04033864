package org.apache.spark.sql.streamjoin.conditions

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.expressions.Literal.{FalseLiteral, TrueLiteral}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval => Interval}

/**
 * Derives the time bounds that follow from one conjunct of a condition.
 *
 * {{{
 *   NOT (x OR y), BETWEEN, IN, abs, greatest, ...
 *     --> comparisons                (this class)
 *     --> later >= earlier - slack   ([[LinearTimes]])
 * }}}
 *
 * @param present columns that are not null in any pair of rows that satisfies the condition
 * @param windows fields of windows that count as event times
 * @param multiples whether numbers in different units are comparable, as multiples
 */
private[streamjoin] final class BoundExtraction(
    left: AttributeSet,
    right: AttributeSet,
    watermarked: AttributeSet,
    present: AttributeSet,
    windows: WindowFields,
    multiples: Boolean
) {
  import RejectedBound._

  import BoundExtraction.{IsFalse, IsTrue, Result, Widened}

  private val linear = new LinearTimes(mayBeTerm, windows)

  def of(conjunct: Expression): Result = {
    val result = implied(conjunct)
    result.copy(found = tightest(result.found).map(_.copy(conjunct = conjunct)))
  }

  def mentionsTimesOfBoth(e: Expression): Boolean =
    e.references.exists(watermarked.contains) &&
      e.references.intersect(left).nonEmpty && e.references.intersect(right).nonEmpty

  // ---- logic ----

  private def implied(e: Expression): Result = e match {
    case And(l, r)                  => all(Seq(implied(l), implied(r)))
    case Or(l, r)                   => any(Seq(implied(l), implied(r)))
    case Not(c)                     => not(c)
    case RetentionLimit(c)          => implied(c)
    case Cast(c, BooleanType, _, _) => implied(c)
    case IsTrue(c)                  => implied(c)
    case IsFalse(c)                 => implied(Not(c))
    case EqualNullSafe(l, r) =>
      if (isPresent(l) || isPresent(r)) implied(EqualTo(l, r)) else Result.none(NullSafe)
    case In(value, list) => any(list.map(x => implied(EqualTo(value, x))))
    case InSet(value, set) =>
      any(set.toSeq.filter(_ != null).map(x => implied(EqualTo(value, Literal(x, value.dataType)))))
    case EqualTo(l, r) => all(Seq(ordered(l, r, strict = false), ordered(r, l, strict = false)))
    // among windows, only an equality determines their ends
    case c: BinaryComparison if TimeUnit.isWindow(c.left.dataType) => Result.none(NotConstant)
    case LessThanOrEqual(l, r)                                     => ordered(l, r, strict = false)
    case GreaterThanOrEqual(l, r)                                  => ordered(r, l, strict = false)
    case LessThan(l, r)                                            => ordered(l, r, strict = true)
    case GreaterThan(l, r)                                         => ordered(r, l, strict = true)
    case r: RuntimeReplaceable                                     => implied(r.replacement)
    case _                                                         => Result.none(NotConstant)
  }

  private def all(results: Seq[Result]): Result =
    Result(results.flatMap(_.found), results.flatMap(_.reasons))

  /**
   * The bounds common to all branches of a disjunction, each with the largest slack of the
   * branches.
   */
  private def any(branches: Seq[Result]): Result = {
    val common = branches
      .flatMap(b => tightest(b.found))
      .groupBy(ends)
      .values
      .filter(_.length == branches.length)
      .map(_.maxBy(_.slack))
    if (common.nonEmpty || branches.length == 1) {
      Result(common.toSeq, branches.flatMap(_.reasons))
    } else Result.none(InsideOr)
  }

  private def tightest(found: Seq[FoundBound]): Seq[FoundBound] =
    found.map(ends).distinct.map(pair => found.filter(ends(_) == pair).minBy(_.slack))

  private def ends(b: FoundBound): (ExpressionKey, ExpressionKey) =
    (new ExpressionKey(b.later), new ExpressionKey(b.earlier))

  private def not(e: Expression): Result = (e, negated(e).map(implied)) match {
    // NOT BETWEEN allows any distance before or after the range
    case (_: And, Some(Result(Nil, _)))    => Result.none(AnyDistance)
    case (_, Some(result))                 => result
    case (_, None) if isEqualityOfTimes(e) => Result.none(AnyDistance)
    case _                                 => Result.none(NotConstant)
  }

  private def isEqualityOfTimes(e: Expression): Boolean = e match {
    case _: EqualTo | _: EqualNullSafe => e.children.head.dataType != BooleanType
    case _: In | _: InSet              => true
    case _                             => false
  }

  private def negated(e: Expression): Option[Expression] = e match {
    case Not(c)                   => Some(c)
    case And(l, r)                => Some(Or(Not(l), Not(r)))
    case Or(l, r)                 => Some(And(Not(l), Not(r)))
    case EqualTo(c, TrueLiteral)  => Some(Not(c))
    case EqualTo(TrueLiteral, c)  => Some(Not(c))
    case EqualTo(c, FalseLiteral) => Some(c)
    case EqualTo(FalseLiteral, c) => Some(c)
    case LessThan(l, r)           => Some(GreaterThanOrEqual(l, r))
    case LessThanOrEqual(l, r)    => Some(GreaterThan(l, r))
    case GreaterThan(l, r)        => Some(LessThanOrEqual(l, r))
    case GreaterThanOrEqual(l, r) => Some(LessThan(l, r))
    case r: RuntimeReplaceable    => negated(r.replacement)
    case _                        => None
  }

  // ---- comparisons ----

  /** The bounds that follow from `small <= large` or, if strict, from `small < large`. */
  private def ordered(small: Expression, large: Expression, strict: Boolean): Result = {
    val parts: Seq[Result] = (small, large) match {
      case (Widened(Greatest(all), widen), _) if !TimeUnit.isWindow(large.dataType) =>
        all.filter(isPresent).map(x => ordered(widen(x), large, strict))
      case (_, Widened(Least(all), widen)) if !TimeUnit.isWindow(small.dataType) =>
        all.filter(isPresent).map(x => ordered(small, widen(x), strict))
      case (Widened(Abs(c, failOnError), widen), _) if negates(c, failOnError) =>
        Seq(
          ordered(widen(c), large, strict),
          ordered(UnaryMinus(large, failOnError = true), widen(c), strict)
        )
      case (Widened(Abs(c, failOnError), _), _) if !isFloating(c.dataType) =>
        linear.of(UnaryMinus(c, failOnError)).left.toSeq.map(Result.none)
      case (_, Widened(_: Abs, _)) => Seq(Result.none(AnyDistance))
      case _                       => Nil
    }
    def solved = MonotoneInverse
      .atMost(small, large, strict)
      .orElse(MonotoneInverse.atLeast(large, small, strict).map(_.swap))
      .map { case (s, l) => ordered(s, l, strict = false) }
    all(parts ++ chosen(small, large, strict) ++ solved :+ compared(small, large, strict))
  }

  /**
   * The bounds of `greatest` or `least` across both inputs that hold whichever argument has the
   * value.
   */
  private def chosen(small: Expression, large: Expression, strict: Boolean): Option[Result] =
    Seq(small, large).flatMap(_.find(isChoice)).headOption.map { choice =>
      val times = choice.children
      if (!times.forall(isPresent)) Result.none(SkipsNull)
      else
        any(times.map { time =>
          def put(e: Expression) = e.transform { case c if c.semanticEquals(choice) => time }
          val others = times.filterNot(_ eq time).map { other =>
            if (choice.isInstanceOf[Greatest]) ordered(other, time, strict = false)
            else ordered(time, other, strict = false)
          }
          all(ordered(put(small), put(large), strict) +: others)
        })
    }

  private def isChoice(e: Expression): Boolean = e match {
    case _: Greatest | _: Least =>
      e.deterministic && TimeUnit.of(e.dataType).nonEmpty && !TimeUnit.isWindow(e.dataType) &&
      !oneSided(e) && e.children.forall(_.references.nonEmpty)
    case _ => false
  }

  /** Whether `-x` is exact. The negative of the smallest integer may overflow to itself. */
  private def negates(e: Expression, failOnError: Boolean): Boolean = e.dataType match {
    case DoubleType => true
    case _          => linear.of(UnaryMinus(e, failOnError)).isRight
  }

  private def isPresent(e: Expression): Boolean = e match {
    case a: Attribute => !a.nullable || present.contains(a)
    case _            => !e.nullable
  }

  private def compared(small: Expression, large: Expression, strict: Boolean): Result = {
    val attempts = for {
      s <- Seq(linear.of(small), linear.term(small)).distinct
      l <- Seq(linear.of(large), linear.term(large)).distinct
    } yield for {
      a <- s
      b <- l
      bound <- between(b - a, strict)
    } yield bound
    // the first attempt relates the times themselves, without opaque terms
    val reasons =
      if (attempts.head.isRight) Nil
      else if (isFloating(small.dataType)) Seq(FloatingPoint)
      else attempts.collect { case Left(r) => r }
    Result(attempts.collectFirst { case Right(bound) => bound }.toSeq, reasons)
  }

  private def isFloating(t: DataType): Boolean = t == DoubleType || t == FloatType

  /**
   * The bound that follows from a difference that is at least (strict: above) zero. The difference
   * must have the form `x - y + c`.
   */
  private def between(
      difference: LinearTime,
      strict: Boolean
  ): Either[Reason, FoundBound] = {
    val (plus, minus) = difference.terms.toSeq.partition(_._2 > 0)
    (plus, minus) match {
      case (Seq((x, f)), Seq((y, g))) =>
        val sameUnit = TimeUnit.of(x.expression.dataType) == TimeUnit.of(y.expression.dataType)
        val unit = f gcd g
        val widened = difference.low != difference.high
        def bound = for {
          later <- multiple(x.expression, f / unit)
          earlier <- multiple(y.expression, -g / unit)
          slack <- difference.slackFromZero(unit, strict)
        } yield FoundBound(later, earlier, slack, widened, TrueLiteral)
        if (!sameUnit) Left(MixedTypes)
        else if (!comparable(x.expression, y.expression)) Left(NotConstant)
        else bound.toRight(NotConstant)
      case _ => Left(NotConstant)
    }
  }

  /** A multiple of a time. Only a column of integers can have a factor other than 1. */
  private def multiple(e: Expression, factor: BigInt): Option[Expression] = e match {
    case _ if factor == 1 => Some(e)
    case a: Attribute
        if multiples && factor.isValidLong && TimeUnit.of(a.dataType).contains(TimeUnit.Number) =>
      Some(MultipleOf(a, factor.toLong))
    case _ => None
  }

  /** Two columns of one input are related only if both are event times. */
  private def comparable(x: Expression, y: Expression): Boolean = {
    val sameInput = x.references.subsetOf(left) == y.references.subsetOf(left)
    !sameInput || Seq(x, y).forall(_.references.subsetOf(watermarked))
  }

  // ---- terms ----

  private def mayBeTerm(e: Expression): Boolean =
    e.deterministic && oneSided(e) && TimeUnit.of(e.dataType).nonEmpty && !inMonths(e)

  private def oneSided(e: Expression): Boolean =
    e.references.nonEmpty && (e.references.subsetOf(left) || e.references.subsetOf(right))

  /**
   * Whether an expression adds months. It is refused even if it depends on one row only, for which
   * the sum would be exact.
   */
  private def inMonths(e: Expression): Boolean = e.exists {
    case _: TimestampAddYMInterval | _: DateAddYMInterval | _: AddMonths => true
    case TimestampAdd(unit, _, _, _) => TimestampUnits.micros(unit).isEmpty
    case i if i.foldable && i.dataType == CalendarIntervalType =>
      Try(i.eval()).toOption.exists { case i: Interval => i.months != 0; case _ => false }
    case _ => false
  }
}

private[streamjoin] object BoundExtraction {
  import RejectedBound._

  /** A predicate that must have this value, and so is not NULL either. */
  private final class MustBe(value: Literal) {
    def unapply(e: Expression): Option[Expression] = e match {
      case EqualTo(c, `value`)       => Some(c)
      case EqualTo(`value`, c)       => Some(c)
      case EqualNullSafe(c, `value`) => Some(c)
      case EqualNullSafe(`value`, c) => Some(c)
      case _                         => None
    }
  }

  private val IsTrue = new MustBe(TrueLiteral)
  private val IsFalse = new MustBe(FalseLiteral)

  /**
   * An expression below casts to wider integer types, with a function that applies these casts to
   * another expression.
   */
  private object Widened {
    def unapply(e: Expression): Option[(Expression, Expression => Expression)] = e match {
      case c @ Cast(inner, to, _, _) if TimeUnit.widens(inner.dataType, to) =>
        unapply(inner).map { case (core, widen) =>
          (core, (x: Expression) => c.withNewChildren(Seq(widen(x))))
        }
      case _ => Some((e, identity[Expression]))
    }
  }

  /**
   * @param reasons why expressions do not have the form of a bound
   */
  final case class Result(found: Seq[FoundBound], reasons: Seq[Reason]) {

    /**
     * The reason for a missing bound. With a bound, the reason why it relates an opaque expression
     * instead of an event time.
     */
    def reason: Option[Reason] =
      reasons
        .find(r => r != NotConstant && (found.isEmpty || r == MixedTypes || r == WrapsAround))
        .orElse(Option.when(found.isEmpty)(NotConstant))
  }

  object Result {
    def none(reason: Reason): Result = Result(Nil, Seq(reason))
  }
}

/**
 * Marks a part of a condition that follows from the `retention` option. The user did not write it.
 */
case class RetentionLimit(child: Expression) extends TaggingExpression {

  override def sql: String = child.sql

  override def toString: String = child.toString

  override protected def withNewChildInternal(newChild: Expression): RetentionLimit =
    copy(child = newChild)
}
