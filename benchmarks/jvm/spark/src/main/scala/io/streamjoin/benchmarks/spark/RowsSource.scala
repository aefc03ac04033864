package io.streamjoin.benchmarks.spark

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.streamjoin.benchmarks.{Kind, Parameters, RowStream, Workload, Workloads}

/**
 * An input of a workload as a data source: tasks compute its rows, so that a run measures the join
 * and not a scan. As a stream it gives one batch of the workload after the other.
 *
 * Options: `workload`, `stream`, and the workload's parameters.
 */
final class RowsSource extends TableProvider {

  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    RowsSource.schema(RowsSource.stream(options)._2)

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table = {
    val (workload, stream) = RowsSource.stream(properties)
    new RowsTable(workload, stream)
  }
}

object RowsSource {

  def options(workload: Workload, stream: RowStream): Map[String, String] =
    workload.parameters.values ++ Map("workload" -> workload.name, "stream" -> stream.name)

  private def stream(options: util.Map[String, String]): (Workload, RowStream) = {
    val workload =
      Workloads.of(options.get("workload"), new Parameters(options.asScala.toMap))
    (workload, workload.streams.find(_.name == options.get("stream")).get)
  }

  def schema(stream: RowStream): StructType = StructType(stream.columns.map { column =>
    column.kind match {
      case Kind.Number => StructField(column.name, LongType)
      case Kind.Time   => StructField(column.name, TimestampType)
      case Kind.Text   => StructField(column.name, StringType)
      case Kind.Change => StructField(column.name, StringType, nullable = false)
    }
  })
}

private final class RowsTable(workload: Workload, stream: RowStream) extends SupportsRead {
  override def name(): String = stream.name

  override def columns(): Array[Column] =
    RowsSource.schema(stream).fields.map(f => Column.create(f.name, f.dataType))

  override def capabilities(): util.Set[TableCapability] =
    util.EnumSet.of(TableCapability.MICRO_BATCH_READ, TableCapability.BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
    new Scan {
      override def readSchema(): StructType = RowsSource.schema(stream)
      override def toBatch: Batch = new WholeStream(stream)
      override def toMicroBatchStream(checkpoint: String): MicroBatchStream =
        new BatchedStream(workload, stream)
    }
}

private final class WholeStream(stream: RowStream) extends Batch {
  override def planInputPartitions(): Array[InputPartition] = RowRange.split(0, stream.rows)
  override def createReaderFactory(): PartitionReaderFactory = new RowReaderFactory(stream)
}

/** The offset is the number of the workload's batch. */
private final class BatchedStream(workload: Workload, stream: RowStream)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow {

  override def prepareForTriggerAvailableNow(): Unit = ()
  override def initialOffset(): Offset = BatchNumber(0)
  override def deserializeOffset(json: String): Offset = BatchNumber(json.toInt)
  override def latestOffset(): Offset = BatchNumber(workload.batches)
  override def reportLatestOffset(): Offset = latestOffset()

  override def latestOffset(start: Offset, limit: ReadLimit): Offset =
    BatchNumber(math.min(number(start) + 1, workload.batches))

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    RowRange.split(
      workload.arrivedBefore(stream, number(start)),
      workload.arrivedBefore(stream, number(end))
    )

  override def createReaderFactory(): PartitionReaderFactory = new RowReaderFactory(stream)
  override def commit(end: Offset): Unit = ()
  override def stop(): Unit = ()

  private def number(offset: Offset): Int = offset.asInstanceOf[BatchNumber].number
}

private final case class BatchNumber(number: Int) extends Offset {
  override def json(): String = number.toString
}

private final case class RowRange(from: Long, until: Long) extends InputPartition

private object RowRange {

  def split(from: Long, until: Long): Array[InputPartition] = {
    val parts = SparkSession.active.sparkContext.defaultParallelism
    (0 until parts)
      .map(i =>
        RowRange(from + (until - from) * i / parts, from + (until - from) * (i + 1) / parts)
      )
      .filter(r => r.from < r.until)
      .toArray
  }
}
