package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.PredicateHelper
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql._
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.model.JoinType

/** The join with `emit => 'early'` to which conjuncts of WHERE are moved. */
class EarlyBoundsSuite extends StreamsInSql with PredicateHelper {

  private def analyzed(from: String): LogicalPlan =
    spark.sql(s"SELECT /*+ STREAM_JOIN(emit => 'early') */ oi.id FROM $from")
      .queryExecution.analyzed

  /** The types and conjuncts of the joins, from the top one to the lowest. */
  private def joins(plan: LogicalPlan): Seq[(JoinType, Set[String])] =
    plan.collect { case j: ChangelogJoin => (j.joinType, j.conjuncts.map(_.sql).toSet) }

  /** The conjuncts of the filters above the joins. */
  private def above(plan: LogicalPlan): Seq[String] = plan.collect {
    case Filter(condition, child) if child.exists(_.isInstanceOf[ChangelogJoin]) =>
      splitConjunctivePredicates(condition).map(_.sql)
  }.flatten

  private val (keys, bounds) = (meets("oi", "di"), near("oi", "di"))
  private val inOn = s"oi JOIN di ON $keys AND $bounds"

  for (
    (name, from) <- Seq(
      "a list of inputs" -> s"oi, di WHERE $keys AND $bounds",
      "a CROSS JOIN" -> s"oi CROSS JOIN di WHERE $keys AND $bounds",
      "a JOIN with the keys in ON" -> s"oi JOIN di ON $keys WHERE $bounds",
      "a JOIN with one bound in ON, without qualifiers in WHERE" ->
        s"oi JOIN di ON $keys AND dt >= ot WHERE dt <= ot + INTERVAL 4 SECONDS"
    )
  ) test(s"the bounds in WHERE above $name become those of ON") {
    val plan = analyzed(from)
    assert(joins(plan) == joins(analyzed(inOn)))
    assert(above(plan).isEmpty)
  }

  test("conjuncts on one input, on the change and with a subquery stay above the join") {
    val plan = analyzed(
      s"oi JOIN di ON $keys WHERE $bounds AND oi.id > 3 AND _change_type = 'insert' " +
        "AND oi.id IN (SELECT id FROM VALUES (1L) AS t(id))"
    )
    assert(joins(plan) == joins(analyzed(inOn)))
    val stay = above(plan)
    assert(stay.length == 3)
    assert(stay.exists(_.contains("id > ")) && stay.exists(_.contains("_change_type")))
  }

  private val again = s"${meets("di", "xi")} AND ${near("di", "xi")}"

  for (
    (name, from) <- Seq(
      "a list of inputs" -> s"oi, di, xi WHERE $keys AND $bounds AND $again",
      "two JOINs with the keys in ON" ->
        s"oi JOIN di ON $keys JOIN xi ON ${meets("di", "xi")} WHERE $bounds AND ${near("di", "xi")}"
    )
  ) test(s"conjuncts in WHERE above $name go to the join of the inputs that they name") {
    val plan = analyzed(from)
    assert(joins(plan) == joins(analyzed(s"$inOn JOIN xi ON $again")))
    assert(above(plan).isEmpty)
  }

  for (how <- Seq("LEFT", "LEFT SEMI"))
    test(s"conjuncts in WHERE above a $how JOIN go to the inner join below it") {
      val upper = s"$how JOIN xi ON $again"
      val plan = analyzed(s"oi JOIN di ON $keys $upper WHERE $bounds")
      assert(joins(plan) == joins(analyzed(s"$inOn $upper")))
      assert(above(plan).isEmpty)
    }

  test("conjuncts in WHERE above an outer join or a join by USING are no bounds") {
    for (
      from <- Seq(s"oi LEFT JOIN di ON $keys", s"oi FULL JOIN di ON $keys", "oi JOIN di USING (k)")
    ) {
      val refused = intercept[AnalysisException](analyzed(s"$from WHERE $bounds"))
      assert(refused.getMessage.contains("in the condition of the join (ON)"), from)
    }
  }
}
