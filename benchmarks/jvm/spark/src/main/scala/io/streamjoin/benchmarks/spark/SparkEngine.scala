package io.streamjoin.benchmarks.spark

import java.nio.file.{Files, Path}
import java.util.{Comparator, UUID}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import io.streamjoin.benchmarks._

/** A query of Structured Streaming over a workload's inputs, with this project's join or Spark's. */
final class SparkEngine(name: String, workloadName: String, variant: Variant) extends Engine {

  private val session = variant.session(name)

  override def close(): Unit = session.stop()

  override def run(workload: Workload): Outcome = {
    val folder = Files.createTempDirectory("streamjoin-benchmark")
    try stream(workload, folder)
    catch { case e: AnalysisException => throw new Refused(e.getMessage) }
    finally delete(folder)
  }

  private def stream(workload: Workload, folder: Path): Outcome = {
    val key = UUID.randomUUID.toString
    val received = Received.open(key, Due.of(workload))
    workload.streams.foreach(declare(workload, _))
    val watch = new Stopwatch
    val query = session
      .sql(workload.query(variant.dialect))
      .writeStream
      .format(classOf[CheckingSink].getName)
      .option("received", key)
      .option("checkpointLocation", folder.toString)
      .trigger(Trigger.AvailableNow())
      .start()
    query.awaitTermination()
    val (wall, cpu) = (watch.wallSeconds, watch.cpuSeconds)
    outcome(query, received, folder).copy(wallSeconds = wall, cpuSeconds = cpu)
  }

  private def declare(workload: Workload, stream: RowStream): Unit = {
    val rows = session.readStream
      .format(classOf[RowsSource].getName)
      .options(RowsSource.options(workloadName, workload, stream))
      .load()
    variant.withWatermark(rows, stream, workload).createOrReplaceTempView(s"`${stream.name}`")
  }

  private def outcome(query: StreamingQuery, received: Received, folder: Path): Outcome = {
    val progress = query.recentProgress.toSeq
    val log = ProgressLog(progress, variant.countsRows)
    Outcome(
      received.result,
      wallSeconds = 0,
      cpuSeconds = 0,
      batches = log.batches,
      peakBufferedRows = log.peakRows,
      peakBufferedBytes = log.peakBytes,
      bytesCheckpointed = Some(bytesBelow(folder.resolve("state"))),
      stateRowsWritten = Some(log.rowsWritten),
      details = log.peaksBySide ++ log.delays(received)
    )
  }

  private def bytesBelow(folder: Path): Long = {
    val files = Files.walk(folder)
    try files.iterator.asScala.filter(Files.isRegularFile(_)).map(Files.size).sum
    finally files.close()
  }

  private def delete(folder: Path): Unit = {
    val files = Files.walk(folder)
    try
      files.sorted(Comparator.reverseOrder[Path]).forEach(file => Files.deleteIfExists(file): Unit)
    finally files.close()
  }
}

/** The same query over the same rows as tables, which needs neither watermark nor state. */
final class SparkBatch(workloadName: String, variant: Variant) extends Engine {
  private val session = variant.session("spark-batch")

  override def close(): Unit = session.stop()

  override def run(workload: Workload): Outcome = {
    workload.streams.foreach { stream =>
      session.read
        .format(classOf[RowsSource].getName)
        .options(RowsSource.options(workloadName, workload, stream))
        .load()
        .createOrReplaceTempView(s"`${stream.name}`")
    }
    val watch = new Stopwatch
    val joined: DataFrame = session.sql(workload.query(Dialect.Spark))
    val texts = joined.schema.map(_.dataType.typeName == "string").toArray
    val result = new Checksum
    joined.queryExecution.toRdd
      .mapPartitions { rows =>
        val part = new Checksum
        rows.foreach(CheckingWriter.add(_, texts, part))
        Iterator(part)
      }
      .collect()
      .foreach(result.merge)
    Outcome(result, watch.wallSeconds, watch.cpuSeconds)
  }
}

object SparkEngine {

  def main(arguments: Array[String]): Unit = Engine.main(arguments.toSeq)(of)

  def of(engine: String, workload: String): Engine =
    if (engine == "spark-batch") new SparkBatch(workload, Variant.of(engine))
    else new SparkEngine(engine, workload, Variant.of(engine))
}
