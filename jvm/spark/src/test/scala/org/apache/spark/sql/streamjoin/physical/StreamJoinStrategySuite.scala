package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.optimize.RulesOverJoins
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{AsOfJoin, ImposeOrder, StreamOrder}
import org.apache.spark.sql.streamjoin.physical.asof.AsOfJoinExec
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.physical.ordered.StreamOrderExec
import org.apache.spark.sql.streamjoin.physical.stateful.times.ImposeOrderExec

import io.streamjoin.PythonApi

/** The strategy alone: the operator and the columns for each logical node. */
class StreamJoinStrategySuite extends RulesOverJoins {

  private def planned(plan: LogicalPlan): SparkPlan = StreamJoinStrategy(session)(plan) match {
    case Seq(one) => one
    case other    => fail(s"not one plan: $other")
  }

  private def names(plan: SparkPlan): Seq[String] = plan.output.map(_.name)

  private lazy val j = join("inner")

  test("a join emits the required columns in order, without a projection of its own") {
    val list = Seq("y", "k").map(column(j, _))
    planned(Project(list, j)) match {
      case ProjectExec(_, join: StreamJoinExec) => assert(names(join) == Seq("y", "k"))
      case other                                => fail(other.toString)
    }
    planned(j) match {
      case join: StreamJoinExec => assert(join.output == j.output)
      case other                => fail(other.toString)
    }
  }

  test("a join also emits the columns that a filter above requires") {
    planned(Project(Seq(column(j, "k")), Filter(above3(j, "x", "y"), j))) match {
      case ProjectExec(_, FilterExec(_, join: StreamJoinExec)) =>
        assert(names(join).toSet == Set("k", "x", "y"))
      case other => fail(other.toString)
    }
  }

  test("orders, imposed orders and as-of joins get their operators") {
    val order = planOf(a.orderBy("t")).collectFirst { case o: StreamOrder => o }.get
    assert(planned(order).isInstanceOf[StreamOrderExec])
    val imposed = planOf(a).collectFirst { case o: ImposeOrder => o }.get
    assert(planned(imposed).isInstanceOf[ImposeOrderExec])
    val last = planOf(
      PythonApi.streamJoin(a, b, "k = bk AND bt <= t", "inner", java.util.Map.of("match", "last"))
    ).collectFirst { case l: AsOfJoin => l }.get
    assert(planned(last).isInstanceOf[AsOfJoinExec])
  }

  test("the strategy does not plan Spark's nodes") {
    assert(StreamJoinStrategy(session)(LocalRelation(j.output)).isEmpty)
  }
}
