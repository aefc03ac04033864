package org.apache.spark.sql.streamjoin.logical.resolve.asof

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{AsOfJoin, LastRows}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal

/**
 * MATCH_CONDITION and ON of an `ASOF JOIN`.
 *
 * In batch systems, ON selects the rows among which the last one is found. An as-of join evaluates
 * other conditions than equalities on the last row only. So an `ASOF JOIN` takes those conditions
 * only for which both are the same:
 *
 * {{{
 *   t.k = q.k                                  the key
 *   q.time >= t.time - INTERVAL '1' DAY        if the last row is too old, all others are
 *   t.price > 0                                of the left input: matches all rows or none
 * }}}
 *
 * The versions of a changelog are no rows to choose from: one is valid at a time.
 */
private[asof] object AsOfCriteria {

  def has(join: Join): Boolean = LastRows.on(join.right).exists(_.form.isInstanceOf[LastRows.AsOf])

  def misfit(join: Join, made: AsOfJoin, times: AsOfTimes): Option[Refusal] = {
    val (probe, build) = (made.timeName(made.bounds.probe), made.timeName(made.bounds.build))
    if (!has(join)) None
    else if (times.uppers.isEmpty)
      Some(refused(
        join,
        s"the match condition does not compare $probe and $build, the event times",
        s"Write MATCH_CONDITION ($probe >= $build)"
      ))
    else
      made.analysis.conjuncts.find(!selects(made, _)).map { c =>
        val age =
          if (c.references.subsetOf(AttributeSet(made.times)))
            s"Write a greatest age as $build >= $probe - INTERVAL ..., with $build alone on its side. Or filter"
          else "Filter"
        refused(
          join,
          s"ON of an ASOF JOIN selects the rows among which the last one is found, and " +
            s"${ColumnNames.sql(c)} is neither an equality nor a lower bound of $build",
          s"$age the right input, ASOF JOIN (SELECT * FROM quotes WHERE ...) AS q; or write JOIN quotes " +
            "OVER (ROWS 1 PRECEDING) AS q ON ..., which evaluates the condition on the last row only"
        )
      }
  }

  private def selects(made: AsOfJoin, conjunct: Expression): Boolean =
    made.versions.nonEmpty || made.analysis.isEquality(conjunct) ||
      conjunct.references.subsetOf(made.input(made.bounds.probe).outputSet) ||
      isLowerBound(made, conjunct) || comparesTimes(made, conjunct)

  /**
   * Whether a conjunct bounds the time of a build row from below by the probe row. The distance need
   * not be constant: in many time zones a day has 23 to 25 hours.
   */
  private def isLowerBound(made: AsOfJoin, conjunct: Expression): Boolean = {
    def is(later: Expression, earlier: Expression) =
      later.semanticEquals(made.time(made.bounds.build)) &&
        earlier.references.subsetOf(made.input(made.bounds.probe).outputSet)
    conjunct match {
      case GreaterThan(b, p)        => is(b, p)
      case GreaterThanOrEqual(b, p) => is(b, p)
      case LessThan(p, b)           => is(b, p)
      case LessThanOrEqual(p, b)    => is(b, p)
      case _                        => false
    }
  }

  /**
   * Whether a conjunct is one comparison of the event times alone. A bound may follow from other
   * conjuncts, too, which also depend on other columns of a row:
   *
   * {{{
   *   t.time >= greatest(q.time, q.published)
   *   (q.time >= t.time - INTERVAL '1' HOUR AND q.bid > 0) IS TRUE
   * }}}
   */
  private def comparesTimes(made: AsOfJoin, conjunct: Expression): Boolean = {
    val bounds = made.analysis.conditionBounds.found.filter(_.conjunct == conjunct)
    isInequality(conjunct) && bounds.nonEmpty &&
    conjunct.references.subsetOf(AttributeSet(made.times)) &&
    bounds.forall { b =>
      !b.widened && Seq(b.later, b.earlier).forall(e => made.times.exists(_.semanticEquals(e)))
    }
  }

  private def isInequality(conjunct: Expression): Boolean = conjunct match {
    case _: LessThan | _: LessThanOrEqual | _: GreaterThan | _: GreaterThanOrEqual =>
      !conjunct.exists {
        case _: Greatest | _: Least => true
        case _                      => false
      }
    case _ => false
  }

  /** The refusal of a join as an as-of join. */
  def refused(join: Join, reason: String, instead: String): Refusal =
    Refusal(StreamJoinErrors.unsupportedAsOf(join.origin, reason, instead))
}
