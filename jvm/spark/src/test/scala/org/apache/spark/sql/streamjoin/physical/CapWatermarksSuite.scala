package org.apache.spark.sql.streamjoin.physical

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Literal}
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec
import org.apache.spark.sql.execution.{
  FilterExec,
  LocalTableScanExec,
  ProjectExec,
  SparkPlan,
  UnionExec
}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.physical.stateful.times.{
  CappedWatermarkExec,
  ImposeOrderExec
}
import org.apache.spark.sql.streamjoin.spark.EventTimeWatermarkExec
import org.apache.spark.sql.types.{LongType, TimestampType}
import org.apache.spark.unsafe.types.CalendarInterval

/** Spark's watermark of a column follows the order that a query imposes on it. */
class CapWatermarksSuite extends AnalysisSession {

  private def table(columns: Attribute*): SparkPlan = {
    session
    LocalTableScanExec(columns, Nil, None)
  }

  private def column(name: String): Attribute = AttributeReference(name, TimestampType)()

  private def watermarked(time: Attribute = column("t")): SparkPlan =
    new EventTimeWatermarkExec(
      UUID.randomUUID(),
      time,
      new CalendarInterval(0, 0, 0),
      table(time, AttributeReference("p", LongType)())
    )

  private def imposed(
      below: SparkPlan,
      grouped: Boolean = true,
      latest: Long = 7
  ): ImposeOrderExec = {
    val per = if (grouped) below.output.slice(1, 2) else Nil
    ImposeOrderExec(UUID.randomUUID(), below.output.head, 0, per, latest, rejects = true, below)
  }

  private def renamed(below: SparkPlan): SparkPlan =
    ProjectExec(Alias(below.output.head, "ot")() +: below.output.tail, below)

  private def planned(plan: SparkPlan): SparkPlan = {
    val once = CapWatermarks.preColumnarTransitions(plan)
    CapWatermarks.preColumnarTransitions(once)
  }

  /** The watermarks of Spark: whether each follows groups, and the latest time that it accepts. */
  private def followed(plan: SparkPlan): Seq[Option[(Boolean, Long)]] = plan.collect {
    case w: CappedWatermarkExec    => Some((w.grouped, w.latest))
    case _: EventTimeWatermarkExec => None
  }

  private val shapes: Seq[(String, SparkPlan => SparkPlan)] = Seq(
    "directly below" -> identity,
    "below a rename" -> renamed,
    "below a filter and a rename" -> (p => renamed(FilterExec(Literal.TrueLiteral, p))),
    "below a join with a table" -> (p =>
      BroadcastNestedLoopJoinExec(p, table(column("x")), BuildRight, Inner, None)
    ),
    "below another order" -> (p => imposed(p, grouped = false, Long.MaxValue))
  )

  for ((name, shape) <- shapes)
    test(s"Spark's watermark $name has the groups and the limit of the order") {
      for (grouped <- Seq(true, false)) {
        val plan = planned(imposed(shape(watermarked()), grouped))
        assert(followed(plan) == Seq(Some((grouped, 7L))))
        val order = plan.asInstanceOf[ImposeOrderExec]
        assert(order.sparks.map(_.grouped) == Seq(grouped))
      }
    }

  test("the watermark of each input of a union follows") {
    val plan = planned(imposed(renamed(UnionExec(Seq(watermarked(), renamed(watermarked()))))))
    assert(followed(plan) == Seq.fill(2)(Some((true, 7L))))
    assert(plan.asInstanceOf[ImposeOrderExec].sparks.length == 2)
  }

  test("the watermark of another column is Spark's alone, as is one without an order") {
    val other = watermarked()
    val made = ProjectExec(Alias(Literal(0L, TimestampType), "made")() +: other.output, other)
    assert(followed(planned(imposed(made))) == Seq(None))
    assert(followed(planned(renamed(watermarked()))) == Seq(None))
  }

  test("the stricter one of two orders counts") {
    val plan = planned(imposed(imposed(watermarked(), latest = 9), grouped = false, latest = 5))
    assert(followed(plan) == Seq(Some((true, 5L))))
  }
}
