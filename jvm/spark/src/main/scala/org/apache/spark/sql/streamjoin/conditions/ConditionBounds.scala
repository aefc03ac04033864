package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._

/**
 * The time bounds of a join condition.
 *
 * A time is an event-time column, or any deterministic expression of one row that is compared with
 * one. A conjunct that compares two times of one family at a constant distance becomes
 * `later >= earlier - slack`. A strict comparison is tightened by one unit, since times are
 * integers.
 *
 * Every bound holds for each pair of rows that satisfies the conjunct. If the conjunct is one
 * comparison at a constant distance, its bound is the tightest one.
 *
 * {{{
 *   d.t BETWEEN o.t AND o.t + INTERVAL '1' HOUR    d.t >= o.t - 0       o.t >= d.t - 3600000000
 *   d.t > o.t                                      d.t >= o.t - (-1)
 * }}}
 */
private[streamjoin] final case class ConditionBounds(
    found: Seq[FoundBound],
    rejected: Seq[RejectedBound]
)

private[streamjoin] object ConditionBounds extends PredicateHelper {

  /**
   * @param condition the resolved condition
   * @param left columns of the left input
   * @param right columns of the right input
   * @param watermarked event-time columns of both inputs
   * @param windows fields of windows that count as event times
   * @param multiples whether numbers in different units are comparable, as multiples
   */
  def of(
      condition: Expression,
      left: AttributeSet,
      right: AttributeSet,
      watermarked: AttributeSet,
      windows: WindowFields = WindowFields.none,
      multiples: Boolean = false
  ): ConditionBounds = {
    val conjuncts = splitConjunctivePredicates(condition)
    val present = AttributeSet(conjuncts.flatMap(required))
    val extraction = new BoundExtraction(left, right, watermarked, present, windows, multiples)
    val results = conjuncts.map(c => c -> extraction.of(c))
    ConditionBounds(
      connected(results.flatMap(_._2.found), watermarked),
      for ((c, result) <- results if extraction.mentionsTimesOfBoth(c); reason <- result.reason)
        yield RejectedBound(
          c,
          reason,
          c.collect { case a: Attribute if watermarked.contains(a) => a.dataType }.distinct
        )
    )
  }

  /**
   * The bounds connected with an event-time column, directly or through others. All others compare
   * plain values.
   */
  private def connected(found: Seq[FoundBound], watermarked: AttributeSet): Seq[FoundBound] = {
    def ends(b: FoundBound) = Seq(b.later, b.earlier).map(new ExpressionKey(_))
    def grow(reached: Set[ExpressionKey]): Set[ExpressionKey] = {
      val next = reached ++ found.filter(ends(_).exists(reached)).flatMap(ends)
      if (next.size == reached.size) reached else grow(next)
    }
    val multiples = found.flatMap(b => Seq(b.later, b.earlier)).collect {
      case m @ MultipleOf(a: Attribute, _) if watermarked.contains(a) => m
    }
    val reached = grow((watermarked.toSeq ++ multiples).map(new ExpressionKey(_)).toSet)
    found.filter(ends(_).exists(reached))
  }

  /** Columns that, if null, make an expression null. */
  private def strict(e: Expression): Seq[Attribute] = e match {
    case a: Attribute          => Seq(a)
    case r: RuntimeReplaceable => strict(r.replacement)
    case _ if e.nullIntolerant => e.children.flatMap(strict)
    case _                     => Nil
  }

  /** Columns that, if null, prevent a predicate from being true. */
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
