package io.streamjoin.benchmarks.spark

import java.lang.{Long => JLong}
import java.util
import java.util.concurrent.locks.LockSupport

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead.RecordStatus
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * A stream of rows that arrive at a steady rate, in micro-batches and in real-time mode, without a
 * broker and without memory. Row n has the time at which it arrives:
 *
 * {{{
 *   id BIGINT   time TIMESTAMP
 *   n           startMs + n * 1000 / rowsPerSecond
 * }}}
 *
 * Options: `startMs`, `rowsPerSecond`.
 */
final class PacedSource extends TableProvider {

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = PacedSource.Schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table =
    new PacedTable(Pace(properties.get("startMs").toLong, properties.get("rowsPerSecond").toLong))
}

private object PacedSource {
  val Schema: StructType = StructType(Seq(
    StructField("id", LongType, nullable = false),
    StructField("time", TimestampType, nullable = false)
  ))
}

/** When rows arrive. */
private final case class Pace(startMs: Long, rowsPerSecond: Long) {

  def microsOf(row: Long): Long = startMs * 1000 + row * 1000000 / rowsPerSecond

  /** The number of rows that have arrived. */
  def arrived(): Long =
    math.max(0, (PacedClock.micros() - startMs * 1000) * rowsPerSecond / 1000000)
}

private object PacedClock {

  def micros(): Long = {
    val now = java.time.Instant.now
    now.getEpochSecond * 1000000 + now.getNano / 1000
  }
}

private final class PacedTable(pace: Pace) extends SupportsRead {
  override def name(): String = "paced"

  override def columns(): Array[Column] =
    PacedSource.Schema.fields.map(f => Column.create(f.name, f.dataType, f.nullable))

  override def capabilities(): util.Set[TableCapability] =
    util.EnumSet.of(TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
    new Scan {
      override def readSchema(): StructType = PacedSource.Schema
      override def toMicroBatchStream(checkpoint: String): MicroBatchStream =
        new PacedStream(pace)
    }
}

/** The offset is the number of rows read. */
private final case class RowCount(rows: Long) extends Offset with PartitionOffset {
  override def json(): String = rows.toString
}

private final case class PacedRange(pace: Pace, from: Long, until: Long) extends InputPartition

private final class PacedStream(pace: Pace) extends MicroBatchStream with SupportsRealTimeMode {

  override def initialOffset(): Offset = RowCount(0)
  override def deserializeOffset(json: String): Offset = RowCount(json.toLong)
  override def latestOffset(): Offset = RowCount(pace.arrived())
  override def commit(end: Offset): Unit = ()
  override def stop(): Unit = ()

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    Array(PacedRange(pace, rows(start), rows(end)))

  override def planInputPartitions(start: Offset): Array[InputPartition] =
    Array(PacedRange(pace, rows(start), Long.MaxValue))

  override def mergeOffsets(offsets: Array[PartitionOffset]): Offset =
    offsets.head.asInstanceOf[RowCount]

  override def createReaderFactory(): PartitionReaderFactory = PacedReaders

  private def rows(offset: Offset): Long = offset.asInstanceOf[RowCount].rows
}

private object PacedReaders extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new PacedReader(partition.asInstanceOf[PacedRange])

  private def readResolve: AnyRef = PacedReaders
}

private final class PacedReader(range: PacedRange) extends SupportsRealTimeRead[InternalRow] {
  private var row = range.from

  override def next(): Boolean = row < range.until && {
    row += 1
    true
  }

  override def get(): InternalRow =
    InternalRow(row - 1, range.pace.microsOf(row - 1))

  override def getOffset(): PartitionOffset = RowCount(row)

  override def nextWithTimeout(now: JLong, timeoutMs: JLong): RecordStatus = {
    val due = range.pace.microsOf(row)
    val until = math.min(due, PacedClock.micros() + timeoutMs * 1000)
    var left = until - PacedClock.micros()
    while (left > 0) {
      LockSupport.parkNanos(left * 1000)
      if (Thread.interrupted()) throw new InterruptedException
      left = until - PacedClock.micros()
    }
    RecordStatus.newStatusWithoutArrivalTime(until == due && next())
  }

  override def close(): Unit = ()
}
