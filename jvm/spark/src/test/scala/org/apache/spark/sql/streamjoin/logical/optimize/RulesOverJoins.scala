package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  Expression,
  GreaterThan,
  Literal,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin

/** Plans for tests of a single rule: a join of a stream `k, x, s, t` with a stream `bk, y, bt`. */
trait RulesOverJoins extends AnalysisSession with PredicateHelper {

  protected lazy val a: DataFrame = ordered(
    stream(
      "value AS k",
      "value AS x",
      "named_struct('p', value, 'q', value) AS s",
      "timestamp AS t"
    ),
    "t"
  )

  protected lazy val b: DataFrame =
    ordered(stream("value AS bk", "value AS y", "timestamp AS bt"), "bt")

  protected def join(how: String): StreamJoin =
    planOf(joined(a, b, "k = bk AND bt BETWEEN t AND t + INTERVAL '1' HOUR", how)).collectFirst {
      case j: StreamJoin => j
    }.get

  protected def column(plan: LogicalPlan, name: String): Attribute =
    plan.output.find(_.name == name).get

  protected def above3(plan: LogicalPlan, names: String*): Expression =
    names.map(n => GreaterThan(column(plan, n), Literal(3L)): Expression).reduce(And(_, _))

  /** The columns that the filters of a plan require to be above 3. */
  protected def filtered(plan: LogicalPlan): Set[String] = plan.collect {
    case Filter(condition, _) =>
      splitConjunctivePredicates(condition).collect { case GreaterThan(c: Attribute, _) => c.name }
  }.flatten.toSet
}
