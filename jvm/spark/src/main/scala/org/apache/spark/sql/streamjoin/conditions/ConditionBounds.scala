package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  PredicateHelper
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
   * @param windows the fields of windows that count as event times
   * @param multiples whether numbers in different units may be compared, as multiples
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
    val extraction =
      new BoundExtraction(
        left,
        right,
        watermarked,
        PresentColumns.of(conjuncts),
        windows,
        multiples
      )
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

  /** Bounds that have to do with a watermarked column; others are comparisons of plain values. */
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
}
