package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{Alias, GetStructField}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin
import org.apache.spark.sql.types.StructType

class PruneNestedColumnsSuite extends RulesOverJoins {

  private def asksField(child: LogicalPlan, more: String*): Project = Project(
    Alias(GetStructField(column(child, "s"), 0), "p")() +: more.map(column(child, _)),
    child
  )

  private def structs(plan: LogicalPlan): Boolean = plan
    .collectFirst { case j: StreamJoin => j }
    .exists(_.left.output.exists(_.dataType.isInstanceOf[StructType]))

  test("a struct of which one field is asked for does not go into the join") {
    val j = join("inner")
    for (plan <- Seq(asksField(j), asksField(Filter(above3(j, "x"), j)))) {
      val made = PruneNestedColumns(plan)
      assert(structs(plan) && !structs(made), made)
      assert(made.output == plan.output)
    }
  }

  test("one of which the condition compares a field, under an alias, does not either") {
    val on = "l.k = r.bk AND l.s.p = r.y AND r.bt BETWEEN l.t AND l.t + INTERVAL '1' HOUR"
    val j = planOf(joined(a.as("l"), b.as("r"), on)).collectFirst { case j: StreamJoin => j }.get
    assert(j.aliased.exists(_.child.dataType.isInstanceOf[StructType]))
    for (plan <- Seq(asksField(j), Project(Seq(column(j, "x")), j)))
      assert(!structs(PruneNestedColumns(plan)))
  }

  test("one that is asked for as a whole does") {
    val plan = asksField(join("inner"), "s")
    assert(PruneNestedColumns(plan) == plan)
  }

  test("as Spark's setting says") {
    val plan = asksField(join("inner"))
    SQLConf.withExistingConf(session.sessionState.conf.clone()) {
      SQLConf.get.setConf(SQLConf.NESTED_SCHEMA_PRUNING_ENABLED, false)
      assert(PruneNestedColumns(plan) == plan)
    }
  }
}
