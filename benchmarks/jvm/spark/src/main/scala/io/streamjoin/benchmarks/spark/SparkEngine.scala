package io.streamjoin.benchmarks.spark

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.{
  DataStreamWriter,
  StreamingQuery,
  StreamingQueryException,
  Trigger
}

import io.streamjoin.benchmarks._

/** A query of Structured Streaming over a workload's inputs, with this project's join or Spark's. */
final class SparkEngine(name: String, variant: Variant) extends Engine {

  private val session = variant.session(name)
  private var isFirst = true

  override def close(): Unit = session.stop()

  override def run(workload: Workload): Outcome = {
    val folder = new TemporaryFolder
    try stream(workload, folder)
    catch {
      case e: AnalysisException => throw new Refused(e.getMessage)
      // the rows that exist when the first batch is planned
      case e: StreamingQueryException if e.getCause.isInstanceOf[AnalysisException] =>
        throw new Refused(e.getCause.getMessage)
    } finally folder.delete()
  }

  private def stream(workload: Workload, folder: TemporaryFolder): Outcome = {
    val account = Option.when(workload.parameters.values.get("account").contains("yes"))(
      new BatchAccount(session.sparkContext, workload.batches)
    )
    val received =
      Received.open(workload, epoch => account.foreach(_.committed(epoch)))
    settings(workload).foreach { case (name, value) => session.conf.set(name, value) }
    workload.streams.foreach(declare(workload, _))
    val watch = new Stopwatch
    val result = session.sql(workload.query(variant.dialect))
    val query = sink(result, workload, received)
      .option("checkpointLocation", folder.path.toString)
      .trigger(Trigger.AvailableNow())
      .start()
    query.awaitTermination()
    val (wall, cpu) = (watch.wallSeconds, watch.cpuSeconds)
    val measured = outcome(query, received, folder)
    val start = if (isFirst) received.start else Nil
    isFirst = false
    measured.copy(
      wallSeconds = wall,
      cpuSeconds = cpu,
      details =
        measured.details ++ start ++ account.toSeq.flatMap(_.end(query.recentProgress.toSeq))
    )
  }

  private def sink(
      result: DataFrame,
      workload: Workload,
      received: Received
  ): DataStreamWriter[Row] = workload.sums match {
    case Some(sums) => result.writeStream.foreachBatch(new AveragesSink(sums, received).write _)
    case None =>
      val written =
        if (workload.tableKeys.isEmpty || !workload.isChangelog) result
        else result.hint("to_upserts", s"key=${result.columns.head}")
      written.writeStream
        .format(classOf[CheckingSink].getName)
        .option("received", received.key)
  }

  /** What a workload may ask for with `partitions`, and with `buckets`, `exchange` and `spread` of this project's join alone. */
  private def settings(workload: Workload): Map[String, String] = {
    val asked = workload.parameters.values
    asked.get("partitions").map("spark.sql.shuffle.partitions" -> _).toMap ++
      // what has state is planned without it
      asked.get("part").map(_ => "spark.sql.adaptive.enabled" -> "false") ++
      asked.get("buckets").map(b => "spark.sql.streamJoin.timeBuckets" -> (b == "yes").toString) ++
      asked.get("exchange").map(e =>
        "spark.sql.streamJoin.streamExchange" -> (e == "own").toString
      ) ++
      asked.get("spread").toSeq.flatMap { s =>
        Seq(
          "spark.sql.streamJoin.hotKeys" -> (s == "yes").toString,
          // whatever it contains
          "spark.sql.streamJoin.hotKeyBuckets" -> "0"
        )
      }
  }

  private def declare(workload: Workload, stream: RowStream): Unit = {
    val rows = session.readStream
      .format(classOf[RowsSource].getName)
      .options(RowsSource.options(workload, stream))
      .load()
    variant.declared(rows, stream, workload).createOrReplaceTempView(s"`${stream.name}`")
  }

  private def outcome(
      query: StreamingQuery,
      received: Received,
      folder: TemporaryFolder
  ): Outcome = {
    val progress = query.recentProgress.toSeq
    val log = ProgressLog(progress, received, variant.countsRows)
    Outcome(
      received.result,
      wallSeconds = 0,
      cpuSeconds = 0,
      batches = log.batches,
      peakBufferedRows = log.peakRows,
      peakBufferedBytes = log.peakBytes,
      bytesCheckpointed = Some(folder.bytesIn("state")),
      stateRowsWritten = Some(log.rowsWritten),
      details = log.peaksBySide ++ log.delays
    )
  }
}

/** The same query over the same rows as tables, which needs neither watermark nor state. */
final class SparkBatch(variant: Variant) extends Engine {
  private val session = variant.session("spark-batch")

  override def close(): Unit = session.stop()

  override def run(workload: Workload): Outcome = {
    workload.streams.foreach { stream =>
      val rows = session.read
        .format(classOf[RowsSource].getName)
        .options(RowsSource.options(workload, stream))
        .load()
      SparkBatch.table(rows, stream).createOrReplaceTempView(s"`${stream.name}`")
    }
    val watch = new Stopwatch
    val joined = session.sql(workload.query(Dialect.Spark))
    workload.sums match {
      case Some(sums) =>
        val averages = new AveragesSink(sums, Received.open(workload, _ => ()))
        averages.write(joined, 0)
        Outcome(averages.result, watch.wallSeconds, watch.cpuSeconds)
      case None => collected(joined, watch)
    }
  }

  private def collected(joined: DataFrame, watch: Stopwatch): Outcome = {
    val kinds = CheckingWriter.kinds(joined.schema)
    val result = new Checksum
    joined.queryExecution.toRdd
      .mapPartitions { rows =>
        val part = new Checksum
        rows.foreach(CheckingWriter.add(_, kinds, part))
        Iterator(part)
      }
      .collect()
      .foreach(result.merge)
    Outcome(result, watch.wallSeconds, watch.cpuSeconds)
  }
}

private object SparkBatch {

  /** The rows that an input comes to: of a changelog, what its changes leave. */
  def table(rows: DataFrame, stream: RowStream): DataFrame = stream.arrival match {
    case Arrival.Changing(_) =>
      val columns = stream.columns.map(_.name).filterNot(Set("seq", "_change_type"))
      val weight = "IF(_change_type IN ('insert', 'update_postimage'), 1, -1)"
      rows
        .groupBy(columns.map(rows(_)): _*)
        .agg(expr(s"sum($weight)").as("copies"))
        .where("copies > 0")
        .selectExpr(columns :+ "explode(sequence(1, copies)) AS copy": _*)
    // its query reads all images with their times
    case Arrival.Versioned(_, _, _) => rows.where("_change_type <> 'update_preimage'")
    case _                          => rows
  }
}

object SparkEngine {

  def main(arguments: Array[String]): Unit = Engine.main(arguments.toSeq)(of)

  def of(name: String): Engine =
    if (name == "spark-batch") new SparkBatch(Variant.of(name))
    else new SparkEngine(name, Variant.of(name))
}
