package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * An input of a join on its way to the partitions of its key: a part of the one shuffle that all such inputs
 * of the join go through, see [[InputsShuffle]]. Which row goes where is as Spark's own exchange has it.
 */
case class JoinExchangeExec(partitioning: HashPartitioning, child: SparkPlan)
    extends UnaryExecNode {

  override def nodeName: String = "JoinExchange"

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "dataSize" -> SQLMetrics.createSizeMetric(sparkContext, "data size"),
    "shuffleRecordsWritten" ->
      SQLMetrics.createMetric(sparkContext, "shuffle records written")
  )

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = partitioning

  /** The shuffle that it goes through, and which of its inputs it is. */
  @transient private var part: Option[(InputsShuffle, Int)] = None

  private[stateful] def shuffle: InputsShuffle = {
    if (part.isEmpty) JoinExchangeExec.together(Seq(this))
    part.get._1
  }

  /** Its rows, each with the number of its partition. */
  private def numbered: NumberedInput = new NumberedInput(
    child.execute(),
    child.output,
    partitioning,
    longMetric("dataSize"),
    longMetric("shuffleRecordsWritten")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val whole = shuffle
    whole.rows(part.get._2)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): JoinExchangeExec =
    copy(child = newChild)
}

object JoinExchangeExec {

  /** Lets the inputs of one operator go through one shuffle, before they are run. */
  private[stateful] def together(inputs: Seq[JoinExchangeExec]): Unit =
    for (some <- inputs.headOption if inputs.forall(_.part.isEmpty)) {
      val shuffle = InputsShuffle.of(some.session.sparkContext, inputs.map(_.numbered))
      inputs.zipWithIndex.foreach { case (input, i) => input.part = Some(shuffle -> i) }
    }
}
