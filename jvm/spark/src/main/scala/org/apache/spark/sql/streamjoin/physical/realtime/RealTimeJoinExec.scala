package org.apache.spark.sql.streamjoin.physical.realtime

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.{
  AllTuples,
  Distribution,
  HashPartitioning,
  UnspecifiedDistribution
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.physical.eventtime.{BatchEnd, JoinTask, StreamJoinExec}
import org.apache.spark.sql.streamjoin.physical.exchange.{
  ByKey,
  ExchangePlacement,
  InAllPartitions,
  StreamExchangeExec
}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BatchArrivals,
  BatchInfo,
  JoinInputs
}
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{ExplainedLine, Figure}
import org.apache.spark.sql.streamjoin.spark.RealTimeMode

import io.streamjoin.model.{BySide, Side}

/**
 * Physical operator of the event-time join in real-time mode. Its state and its output are those of
 * [[StreamJoinExec]]; only the way of the rows differs:
 *
 * {{{
 *   left input  --+
 *                 +-- TaggedInputs -- Exchange (pipelined) --> JoinTask, per partition
 *   right input --+
 * }}}
 *
 * All stages run at the same time, for as long as the batch. A task emits a match when the second
 * of the two rows arrives. The exchange ends when all tasks before it have ended and have sent their
 * event times. So a task knows the watermarks at the end of the batch exactly. It then evicts rows,
 * emits the unmatched ones, and commits. Example of one batch, with a lag of 0:
 *
 * {{{
 *   order 12:00            buffered
 *   delivery 12:20         emits 12:00 with 12:20
 *   delivery 12:31         buffered
 *   end of both inputs     W(orders) 12:00, W(deliveries) 12:31: evicts the order
 * }}}
 *
 * No row is evicted before the end of the batch, so the set of emitted rows does not depend on the
 * order of arrival. It is that of a micro-batch with the same offsets.
 *
 * @param tagged the exchange of the tagged inputs
 * @param join the join as planned for a micro-batch
 */
private[physical] class RealTimeJoinExec(tagged: SparkPlan, join: StreamJoinExec)
    extends StreamJoinExec(tagged, RealTimeJoinExec.NoInput, join.batch, join.spec)
    with ReceivesTimes {

  override def simpleString(maxFields: Int): String =
    s"${super.simpleString(maxFields)}, real-time mode"

  override def requiredChildDistribution: Seq[Distribution] = Seq.fill(2)(UnspecifiedDistribution)

  // ---- tree ----

  override protected def input: BySide[SparkPlan] = BySide(join.left, join.right)

  override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, join)

  override protected def shuffled: Seq[SparkPlan] = Seq(left)

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): StreamJoinExec = new RealTimeJoinExec(left, join)

  // ---- execution ----

  @transient override private[realtime] lazy val times: ReadTimes = new ReadTimes

  override protected def executed(create: (Int, BatchEnd) => JoinTask): RDD[InternalRow] = {
    val (bases, batch, maxGroups) =
      (this.bases, this.batch, conf.getConf(StreamJoinConf.MaxWatermarkGroups))
    val (times, emitted, fields) = (this.times, report.emitted, input.map(_.output.length))
    val nothing = sparkContext.parallelize(Seq.empty[InternalRow], getStateInfo.numPartitions)
    perPartition(left.execute(), nothing) { (partition, rows, _) =>
      val end = BatchEnd(
        isKnown = false,
        () => BatchArrivals.of(bases, times.all, batch, maxGroups)
      )
      val task = create(partition, end)
      val arrived = rows.flatMap { row =>
        TaggedRow.side(row) match {
          case Some(side) => task.arrive(side, TaggedRow.content(row, fields(side)))
          case None =>
            times.add(TaggedRow.times(row))
            Iterator.empty
        }
      }
      task.output(arrived, emitted)
    }
  }

  /** The end of the batch: its rows arrive until then. */
  override protected def clockMs: Option[Long] =
    batch.timeMs.map(_ + RealTimeMode.durationMs(left).getOrElse(0L))

  override def getProgress(): StateOperatorProgress = {
    for (inputs <- left.collectFirst { case t: TaggedInputsExec => t }; side <- Side.both)
      longMetric(Figure.Ahead.of(side).name).set(JoinInputs.ahead(inputs.children(side.index)))
    super.getProgress()
  }
}

private[physical] object RealTimeJoinExec {

  private val NoInput = ExplainedLine("both inputs arrive in one exchange")

  /** The join in real-time mode, with one exchange instead of the exchanges of its inputs. */
  def of(join: StreamJoinExec): RealTimeJoinExec = {
    val (columns, partitions) = (TaggedRow.columns, join.getStateInfo.numPartitions)
    val (left, right) = (placed(join, Side.Left, partitions), placed(join, Side.Right, partitions))
    val inputs =
      TaggedInputsExec(BySide(left._1, right._1), partitions, columns, left._2, right._2)
    val exchange = RealTimeMode.exchange(inputs, columns.head, partitions)
    val converted = new RealTimeJoinExec(exchange, join)
    converted.copyTagsFrom(join)
    converted
  }

  /** The placement of the rows of an input, and the input without its exchange. */
  private def placed(
      join: StreamJoinExec,
      side: Side,
      partitions: Int
  ): (ExchangePlacement, SparkPlan) = {
    val distribution = join.requiredChildDistribution(side.index)
    def placement: ExchangePlacement =
      if (distribution == AllTuples) InAllPartitions(partitions)
      else ByKey(distribution.createPartitioning(partitions).asInstanceOf[HashPartitioning])
    join.children(side.index) match {
      case StreamExchangeExec(buckets, _, below) => (buckets, below)
      case e: ShuffleExchangeExec                => (placement, e.child)
      case other                                 => (placement, other)
    }
  }
}
