package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * Physical operator that exchanges the rows of an input of a stateful operator. All inputs of one
 * operator share one shuffle ([[ExchangeShuffle]]), whose rows are packed into chunks.
 *
 * @param order reads each partition in the order of a key's hash; none: in arrival order
 */
case class StreamExchangeExec(
    placement: ExchangePlacement,
    order: Option[SortOrder],
    child: SparkPlan
) extends Exchange {

  override def nodeName: String = "StreamExchange"

  override def stringArgs: Iterator[Any] =
    Iterator(placement) ++ order.map(by => s"sorted by $by")

  override lazy val metrics: Map[String, SQLMetric] = StreamExchangeExec.metrics(this)

  override def outputPartitioning: Partitioning = placement.partitioning

  override def outputOrdering: Seq[SortOrder] = order.toSeq

  override protected def doCanonicalize(): SparkPlan = {
    val canonical = super.doCanonicalize().asInstanceOf[StreamExchangeExec]
    canonical.copy(placement = placement.canonicalized(child.output))
  }

  /** The shared shuffle, and the number of this input in it. */
  @transient private var part: Option[(ExchangeShuffle, Int)] = None

  private[physical] def shuffle: ExchangeShuffle = {
    if (part.isEmpty) StreamExchangeExec.together(Seq(this))
    part.get._1
  }

  private def input: ExchangeInput = {
    val (by, columns) = (placement, child.output)
    ExchangeInput(
      child.execute().mapPartitionsInternal(by.numbered(_, columns)),
      placement.partitioning.numPartitions,
      columns.length,
      longMetric("dataSize"),
      longMetric("shuffleRecordsWritten")
    )
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = shuffle.rows(part.get._2)
    val columns = output
    order.fold(rows) { by =>
      val keys = by.child.children
      rows.mapPartitionsInternal(RowsByHash.sorted(_, keys, columns))
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): StreamExchangeExec =
    copy(child = newChild)
}

private[physical] object StreamExchangeExec {

  /** Assigns the inputs of one operator to one shuffle. Must be called before they run. */
  def together(inputs: Seq[StreamExchangeExec]): Unit = {
    val all = inputs.distinctBy(System.identityHashCode(_))
    for (some <- all.headOption if all.forall(_.part.isEmpty)) {
      val context = some.session.sparkContext
      val most = InlineOutputs.most(context, some.conf)
      val shuffle = ExchangeShuffle.of(context, all.map(_.input), most, context.isLocal)
      all.zipWithIndex.foreach { case (input, i) => input.part = Some(shuffle -> i) }
    }
  }

  /** The metrics of an exchange. */
  def metrics(of: SparkPlan): Map[String, SQLMetric] = {
    val context = of.session.sparkContext
    Map(
      "dataSize" -> SQLMetrics.createSizeMetric(context, "data size"),
      "shuffleRecordsWritten" -> SQLMetrics.createMetric(context, "shuffle records written")
    )
  }
}
