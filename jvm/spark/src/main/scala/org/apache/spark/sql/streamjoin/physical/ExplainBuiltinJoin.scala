package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.BuiltinJoin
import org.apache.spark.sql.streamjoin.physical.stateful.shown.ExplainedLine
import org.apache.spark.sql.streamjoin.physical.stateful.times.PassesRows
import org.apache.spark.sql.streamjoin.spark.StreamingSymmetricHashJoinExec

/**
 * Columnar rule that explains why Spark's stream-stream join was not replaced.
 *
 * Spark applies the columnar rules of an extension to the plan of each streaming batch when all
 * operators are in place. No other hook of an extension runs that late.
 */
object ExplainBuiltinJoin extends ColumnarRule {

  override def preColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) => explained(plan)

  private def explained(plan: SparkPlan): SparkPlan = plan match {
    case kept: BuiltinJoinExec => kept
    case j: StreamingSymmetricHashJoinExec =>
      val below = j.mapChildren(explained)
      whyKept(j).fold(below)(BuiltinJoinExec(_, below))
    case other => other.mapChildren(explained)
  }

  private val below = Seq(
    "a join below it remains Spark's, which buffers rows for ever, so it emits rows of any age.",
    "The line above that join shows what it lacks."
  )

  private def whyKept(j: StreamingSymmetricHashJoinExec): Option[Seq[String]] =
    j.logicalLink.collect { case BuiltinJoin(join) =>
      BuiltinJoin.replaced(join) match {
        case Left(refused) if refused.ofBelow => below
        case Left(refused)                    => refused.error.reason
        case Right(_) => Seq("its condition had no bounds when Spark analyzed it.")
      }
    }
}

/**
 * Wraps Spark's own join to show in `explain` why it was not replaced. Rows pass through unchanged.
 */
case class BuiltinJoinExec(reason: Seq[String], child: SparkPlan) extends PassesRows {

  override def nodeName: String = "StreamJoin not used"

  override def simpleString(maxFields: Int): String = s"$nodeName: ${reason.head}"

  override def verboseStringWithOperatorId(): String =
    s"\n$formattedNodeName\n${reason.mkString("\n")}\n"

  override def innerChildren: Seq[QueryPlan[_]] = reason.tail.map(ExplainedLine(_))

  override protected def withNewChildInternal(newChild: SparkPlan): BuiltinJoinExec =
    copy(child = newChild)
}
