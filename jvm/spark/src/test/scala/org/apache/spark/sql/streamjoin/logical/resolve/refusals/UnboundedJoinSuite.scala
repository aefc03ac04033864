package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.streamjoin.conditions.Condition
import org.apache.spark.sql.streamjoin.logical.plan.NamedTime
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ImposeOrder, StreamJoin}

import io.streamjoin.model.JoinType

/** The refusal of a join whose condition does not bound both inputs. */
class UnboundedJoinSuite extends AnyFunSuite {

  private def input(alias: String, columns: LogicalPlan, time: String): LogicalPlan = {
    val column = columns.output.find(_.name == time).get
    SubqueryAlias(
      alias,
      ImposeOrder(
        new java.util.UUID(0, column.exprId.id),
        column,
        0,
        None,
        Nil,
        imposed = true,
        None,
        None,
        columns
      )
    )
  }

  private def refusal(on: String, left: String, right: String): (String, String) = {
    val (a, b) = (
      input("a", LocalRelation(Condition.a, Nil, isStreaming = true), left),
      input("b", LocalRelation(Condition.b, Nil, isStreaming = true), right)
    )
    val times = Seq(a -> left, b -> right).map { case (plan, name) =>
      plan.output.find(_.name == name).get
    }.zip(Seq("a", "b")).map { case (time, name) => NamedTime(time, name) }
    val columns = a.output ++ b.output
    // the analyzed condition has the aliases of the inputs
    val condition = Condition(on).analyzed.transform {
      case c: org.apache.spark.sql.catalyst.expressions.Attribute =>
        columns.find(_.exprId == c.exprId).getOrElse(c)
    }
    val join = StreamJoin(a, b, JoinType.Inner, condition, times)
    val refused = JoinRefusals.of(join).get.error
    refused.getCondition.stripPrefix("STREAM_JOIN.") -> refused.getMessage
  }

  private def says(on: String, left: String = "t", right: String = "t")(
      condition: String,
      parts: String*
  ): Unit = test(s"the refusal of $on with event times $left and $right") {
    val (found, message) = refusal(on, left, right)
    assert(found == condition)
    for (part <- parts) assert(message.contains(part))
    assert(!message.contains("stream-to-stream"))
  }

  private val Both = "a.t >= b.t - INTERVAL '1' HOUR AND b.t >= a.t - INTERVAL '1' HOUR"

  says("a.k = b.k")(
    "UNBOUNDED_STATE",
    "a row of the left or right input",
    s"Add the missing inequalities to the condition of the join, for example $Both. Or limit"
  )
  says("a.k = b.k AND a.t < b.t")(
    "UNBOUNDED_STATE",
    "a row of the left input",
    "Add the missing inequality to the condition of the join, for example a.t >= b.t - INTERVAL '1' " +
      "HOUR. Or limit"
  )
  says("a.k = b.k AND a.seq = b.seq", "s", "i")(
    "UNBOUNDED_STATE",
    "for example a.s >= b.i - 100 AND b.i >= a.s - 100. Or"
  )
  says("a.k = b.k AND a.t = b.t", "d", "d")(
    "UNBOUNDED_STATE",
    "for example a.d >= b.d - INTERVAL '1' DAY AND b.d >= a.d - INTERVAL '1' DAY. Or"
  )
  says("a.k = b.k AND a.t <> b.t")(
    "NON_CONSTANT_BOUND",
    "(NOT (a.t = b.t)) does not bound",
    "it also holds for times at any distance",
    s"for example $Both."
  )
  says("a.k = b.k AND CAST(a.t AS BIGINT) < CAST(b.t AS BIGINT)")(
    "UNBOUNDED_STATE",
    "(CAST(a.t AS BIGINT) < CAST(b.t AS BIGINT))",
    "for example a.t >= b.t - INTERVAL '1' HOUR. Or"
  )
  says("a.k = b.k AND bigint(a.t) < bigint(b.t)")(
    "UNBOUNDED_STATE",
    "(CAST(a.t AS BIGINT) < CAST(b.t AS BIGINT))"
  )
  says("a.k = b.k AND a.t >= b.t + INTERVAL '1' HOUR AND a.x > 5")(
    "UNBOUNDED_STATE",
    // without the casts that the analyzer adds
    "(((a.k = b.k) AND (a.t >= b.t + INTERVAL '01' HOUR)) AND (a.x > 5))"
  )
  says("a.k = b.k AND a.t = b.n", right = "n")(
    "NON_CONSTANT_BOUND",
    "(a.t = b.n) does not bound",
    "its event times are TIMESTAMP and TIMESTAMP_NTZ, and their distance depends on the time zone",
    "Make a TIMESTAMP of b.n below the order of the right input, with CAST(n AS TIMESTAMP), " +
      "impose the order on that column, and compare it with a.t."
  )
  says("a.k = b.k AND a.seq = unix_seconds(b.t)", left = "seq")(
    "NON_CONSTANT_BOUND",
    "its event times are BIGINT and TIMESTAMP, and numbers and times have no common unit",
    "Make a TIMESTAMP of a.seq below the order of the left input, with timestamp_seconds(seq) or " +
      "timestamp_millis(seq), by the unit of the numbers, impose the order on that column, and " +
      "compare it with b.t."
  )
  says("a.k = b.k AND a.t >= b.d", right = "d")(
    "NON_CONSTANT_BOUND",
    "Make a TIMESTAMP of b.d below the order of the right input, with CAST(d AS TIMESTAMP)"
  )
  says("a.k = b.k AND (a.t = b.t OR a.k = 3)")(
    "DISJUNCTIVE_BOUND",
    s"Add a bound that holds in each branch, for example $Both."
  )
  says("a.k = b.k AND a.t >= add_months(b.t, 1)")("CALENDAR_INTERVAL", "months or years")
}
