package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

/**
 * Passes rows on and notes the largest event time among them, of those that are believed.
 *
 * @param latest the latest time that is believed
 * @param rejects whether rows beyond it are dropped
 */
case class ImposeOrderExec(
    orderId: UUID,
    column: Attribute,
    lag: Long,
    latest: Long,
    rejects: Boolean,
    child: SparkPlan
) extends UnaryExecNode {

  private[physical] val largest: LargestTime = new LargestTime
  sparkContext.register(largest)

  override lazy val metrics: Map[String, SQLMetric] =
    Map("aheadRows" -> SQLMetrics.createMetric(sparkContext, "rows too far ahead"))

  /** How many rows of the batch were beyond `latest`. */
  private[physical] def ahead: Long = longMetric("aheadRows").value

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def argString(maxFields: Int): String =
    TimeUnit.of(column.dataType).fold(column.name)(_.movedInWords(s"latest ${column.name}", -lag))

  override protected def doExecute(): RDD[InternalRow] = {
    val (noted, ahead, last, keeps) = (largest, longMetric("aheadRows"), latest, !rejects)
    val ordinal = child.output.indexWhere(_.exprId == column.exprId)
    val read = TimeReader.of(column.dataType)
    def passes(row: InternalRow): Boolean = row.isNullAt(ordinal) || {
      val time = read(row, ordinal)
      if (time <= last) {
        noted.add(time)
        true
      } else {
        ahead += 1
        keeps
      }
    }
    child.execute().mapPartitionsInternal(_.filter(passes))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ImposeOrderExec =
    copy(child = newChild)
}
