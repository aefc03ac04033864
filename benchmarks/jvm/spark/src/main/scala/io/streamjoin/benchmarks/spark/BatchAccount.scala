package io.streamjoin.benchmarks.spark

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.sql.streaming.StreamingQueryProgress

import io.streamjoin.benchmarks.Stopwatch

/**
 * Account of the time of the batches of a run, in milliseconds for each batch.
 *
 * The first batches are left out, for they make the checkpoint, and so is the last, which has the
 * closing rows.
 *
 * @param batches how many the run has
 */
private final class BatchAccount(context: SparkContext, batches: Int) {
  import BatchAccount._

  private val events = new BatchEvents
  context.addSparkListener(events)
  private var begun: Option[(Stopwatch, ThreadTimes)] = None
  private var cpu = Seq.empty[(String, Double)]

  /** Called on the query's own thread, which ends with the query. */
  def committed(epoch: Long): Unit =
    if (epoch == First - 1) begun = Some((new Stopwatch, new ThreadTimes))
    else if (epoch == batches - 2) begun.foreach { case (watch, threads) =>
      val process = "process" -> watch.cpuSeconds * 1000
      cpu = (process +: threads.soFar().toSeq.sortBy(-_._2)).map { case (who, ms) =>
        who -> ms / (batches - 1 - First)
      }
    }

  /** @param progress of all batches */
  def end(progress: Seq[StreamingQueryProgress]): Seq[(String, Any)] = {
    awaitEvents()
    context.removeSparkListener(events)
    val counted = events.batches.slice(First, batches - 1)
    val parts = progress
      .slice(First, batches - 1)
      .map(_.durationMs.asScala.toSeq.map { case (part, ms) => part -> ms.longValue })
    val rules = mean(counted.map(_.rules.toSeq)).map { case (rule, nanos) => rule -> nanos / 1e6 }
    Seq(
      "account" -> Seq(
        "parts" -> mean(parts),
        "phases" -> mean(counted.map(_.phases)),
        "spans" -> mean(counted.map(_.spans)),
        "counts" -> mean(counted.map(_.counts)),
        "cpu" -> cpu,
        "rules" -> (Seq(
          "all" -> rules.map(_._2).sum,
          "this project's" -> rules.filter(_._1.contains(".streamjoin.")).map(_._2).sum
        ) ++ rules.sortBy(-_._2).take(Rules))
      )
    )
  }

  private def awaitEvents(): Unit = {
    val last = System.nanoTime + Patience
    while (events.batches.length < batches && System.nanoTime < last) Thread.sleep(5)
  }
}

private object BatchAccount {

  private val First = 5

  /** The longest of them. */
  private val Rules = 30

  /** Nanoseconds that Spark's listeners get to hear of the last batch. */
  private val Patience = 5000000000L

  private def mean(batches: Seq[Seq[(String, Long)]]): Seq[(String, Double)] = {
    val sums = batches.flatten.groupMapReduce(_._1)(_._2)(_ + _)
    batches.flatMap(_.map(_._1)).distinct.map(name => name -> sums(name).toDouble / batches.length)
  }
}
