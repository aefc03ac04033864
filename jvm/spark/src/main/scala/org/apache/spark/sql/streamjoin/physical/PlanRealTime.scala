package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnionExec}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.physical.asof.AsOfJoinExec
import org.apache.spark.sql.streamjoin.physical.changelog.ChangelogJoinExec
import org.apache.spark.sql.streamjoin.physical.consolidate.ConsolidateExec
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.physical.realtime.{RealTimeJoinExec, TaggedInputsExec}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.StatefulBinaryExec
import org.apache.spark.sql.streamjoin.physical.stateful.times.{
  CappedWatermarkExec,
  ImposeOrderExec,
  PassesRows
}
import org.apache.spark.sql.streamjoin.spark.RealTimeMode

/**
 * Columnar rule that replaces the event-time joins of a batch in real-time mode, and refuses what
 * this project or Spark does not support in this mode. A later rule of Spark makes the exchanges
 * pipelined: they pass rows on while the batch runs.
 */
object PlanRealTime extends ColumnarRule {

  override def preColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) =>
    if (plan.getTagValue(Planned).nonEmpty || !plan.exists(isOwn)) plan
    else
      RealTimeMode.durationMs(plan).fold(plan) { duration =>
        val result = planned(plan, duration)
        result.setTagValue(Planned, ())
        result
      }

  /** Marks the result: Spark 4.3 applies the rule twice. */
  private val Planned: TreeNodeTag[Unit] = TreeNodeTag("streamjoin.realTime")

  private def isOwn(plan: SparkPlan): Boolean = plan match {
    case _: StatefulBinaryExec | _: ConsolidateExec | _: ImposeOrderExec => true
    case _                                                               => false
  }

  private def planned(plan: SparkPlan, durationMs: Long): SparkPlan = {
    if (!RealTimeMode.isSupported)
      throw refused(
        "the exchanges of this version of Spark pass no row on before the batch ends",
        "Use Spark 4.3, or trigger(processingTime='0 seconds')"
      )
    plan.foreach(refuseOperator)
    val joined = plan.transformUp {
      case j: StreamJoinExec      => RealTimeJoinExec.of(j)
      case o: ImposeOrderExec     => o.duringBatch(durationMs)
      case w: CappedWatermarkExec => w.duringBatch(durationMs)
    }
    val inputs = joined.collect { case t: TaggedInputsExec => t }
    inputs.flatMap(_.children).foreach(refuseInput)
    if (inputs.exists(_.exchanged.length > 1))
      throw refused(
        "both inputs of a join have a shuffle below, and a stage reads one pipelined shuffle only",
        "Join one stream at a time: a.streamJoin(b, ...).streamJoin(c, ...)"
      )
    joined.foreach(refuseUnion)
    if (RealTimeMode.checksOperators(SQLConf.get))
      throw refused(
        "Spark's list of allowed operators contains only operators of Spark",
        "Set spark.sql.streaming.realTimeMode.allowlistCheck to false. The operators of Spark in " +
          "this query remain checked"
      )
    (joined +: inputs.map(_.right)).foreach(part => RealTimeMode.check(sparksOwn(part)))
    joined
  }

  private def refuseOperator(plan: SparkPlan): Unit = {
    val reason = plan match {
      case _: ChangelogJoinExec | _: ConsolidateExec =>
        Some("a changelog is consolidated at the end of a batch")
      case _: AsOfJoinExec =>
        Some("an as-of join emits a row when the watermark passes it, at the end of a batch")
      case _ => None
    }
    reason.foreach(r => throw refused(r, "Use trigger(processingTime='0 seconds')"))
  }

  /** The times of an input reach the join with its rows, so no other exchange may be in between. */
  private def refuseInput(input: SparkPlan): Unit = input match {
    case _: RealTimeJoinExec => ()
    case e: Exchange =>
      for (order <- TaggedInputsExec.recorders(e).headOption)
        throw refused(
          s"the rows of ${order.column.name} are shuffled between imposeOrder and the join",
          "Write imposeOrder after the operator that shuffles the rows"
        )
      if (e.exists(_.isInstanceOf[RealTimeJoinExec]))
        throw refused(
          "the rows of a join are shuffled before the next join",
          "Remove the operator between the two joins that shuffles the rows, such as repartition"
        )
    case other => other.children.foreach(refuseInput)
  }

  /** A pipelined shuffle sends a partition to the task of the same number. */
  private def refuseUnion(plan: SparkPlan): Unit = plan match {
    case u: UnionExec if u.children.tail.exists(TaggedInputsExec.isExchanged) =>
      throw refused(
        "an input of a union has a shuffle below and is not the first input of the union. The " +
          "tasks of the union then read the wrong partitions",
        "Let at most one input of the union contain a join or another shuffle, and write it first"
      )
    case _ => ()
  }

  /** The plan without operators of this project, and of each join its left input only. */
  private def sparksOwn(plan: SparkPlan): SparkPlan = plan.transformUp {
    case p @ (_: RealTimeJoinExec | _: TaggedInputsExec | _: PassesRows | _: CappedWatermarkExec) =>
      p.children.head
  }

  private def refused(reason: String, instead: String) =
    StreamJoinErrors.runtime(
      "UNSUPPORTED_REAL_TIME_MODE",
      "reason" -> reason,
      "instead" -> instead
    )
}
