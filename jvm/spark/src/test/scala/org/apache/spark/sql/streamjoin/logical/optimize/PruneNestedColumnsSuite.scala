package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{Alias, GetStructField}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.types.StructType

/** [[PruneNestedColumns]] on its own. */
class PruneNestedColumnsSuite extends RulesOverJoins {

  private def requiresField(child: LogicalPlan, more: String*): Project = Project(
    Alias(GetStructField(column(child, "s"), 0), "p")() +: more.map(column(child, _)),
    child
  )

  private def hasStruct(plan: LogicalPlan): Boolean = plan
    .collectFirst { case j: StreamJoin => j }
    .exists(_.left.output.exists(_.dataType.isInstanceOf[StructType]))

  test("a struct is pruned below the join if only one of its fields is required") {
    val j = join("inner")
    for (plan <- Seq(requiresField(j), requiresField(Filter(above3(j, "x"), j)))) {
      val made = PruneNestedColumns(plan)
      assert(hasStruct(plan) && !hasStruct(made), made)
      assert(made.output == plan.output)
    }
  }

  test("a struct is pruned below the join if the condition compares one of its fields") {
    val on = "l.k = r.bk AND l.s.p = r.y AND r.bt BETWEEN l.t AND l.t + INTERVAL '1' HOUR"
    val j = planOf(joined(a.as("l"), b.as("r"), on)).collectFirst { case j: StreamJoin => j }.get
    assert(j.aliased.exists(_.child.dataType.isInstanceOf[StructType]))
    for (plan <- Seq(requiresField(j), Project(Seq(column(j, "x")), j)))
      assert(!hasStruct(PruneNestedColumns(plan)))
  }

  test("a struct that is required as a whole is not pruned") {
    val plan = requiresField(join("inner"), "s")
    assert(PruneNestedColumns(plan) == plan)
  }

  test("nothing is pruned if Spark's nested schema pruning is off") {
    val plan = requiresField(join("inner"))
    SQLConf.withExistingConf(session.sessionState.conf.clone()) {
      SQLConf.get.setConf(SQLConf.NESTED_SCHEMA_PRUNING_ENABLED, false)
      assert(PruneNestedColumns(plan) == plan)
    }
  }
}
