package io.streamjoin.benchmarks.spark

import java.util
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming._
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.benchmarks.{Checksum, KeyedTable, Kind, Stopwatch, Workload}

/** Takes the result in and keeps what it comes to. Option: `received`, a key of [[Received.of]]. */
final class CheckingSink extends TableProvider {
  override def supportsExternalMetadata(): Boolean = true
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = new StructType

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table = new SupportsWrite {
    override def name(): String = "checked"
    override def columns(): Array[Column] = Array.empty

    override def capabilities(): util.Set[TableCapability] =
      util.EnumSet.of(TableCapability.STREAMING_WRITE, TableCapability.ACCEPT_ANY_SCHEMA)

    override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder {
      override def build(): Write = new Write {
        override def toStreaming: StreamingWrite =
          new CheckingWrite(info.schema(), Received.of(info.options().get("received")))
      }
    }
  }
}

private final class CheckingWrite(schema: StructType, received: Received) extends StreamingWrite {
  override def createStreamingWriterFactory(
      info: PhysicalWriteInfo
  ): StreamingDataWriterFactory = {
    val (kinds, key) = (CheckingWriter.kinds(schema), received.key)
    (_: Int, _: Long, _: Long) => {
      // not the factory's, which is a copy
      val of = Received.of(key)
      new CheckingWriter(kinds, of.delays, new Checksum(of.table))
    }
  }

  override def useCommitCoordinator(): Boolean = false

  override def commit(epoch: Long, messages: Array[WriterCommitMessage]): Unit =
    received.add(epoch, messages.toSeq.map(_.asInstanceOf[Part]))

  override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit = ()
}

/** @param due how many rows without a partner there are, by the batch that first allowed them */
private final case class Part(result: Checksum, due: Map[Int, Long]) extends WriterCommitMessage

private final class CheckingWriter(kinds: Array[Kind], delays: Option[Due], result: Checksum)
    extends DataWriter[InternalRow] {
  private val due = new util.HashMap[Int, Long]

  override def write(row: InternalRow): Unit = {
    CheckingWriter.add(row, kinds, result)
    if (delays.nonEmpty && row.isNullAt(1) && row.getLong(0) >= 0)
      due.merge(delays.get.batch(row.getLong(0)), 1L, (a, b) => a + b)
  }

  override def commit(): WriterCommitMessage = {
    import scala.jdk.CollectionConverters._
    Part(result, due.asScala.toMap)
  }

  override def abort(): Unit = ()
  override def close(): Unit = ()
}

private object CheckingWriter {

  private val comes =
    Set(Kind.Change.insert, Kind.Change.postimage)
      .map(kind => UTF8String.fromString(Kind.Change.words(kind.toInt)))

  def kinds(schema: StructType): Array[Kind] = schema.map(column =>
    column.dataType match {
      case LongType                                    => Kind.Number
      case StringType if column.name == "_change_type" => Kind.Change
      case StringType                                  => Kind.Text
      case _                                           => Kind.Time
    }
  ).toArray[Kind]

  def add(row: InternalRow, kinds: Array[Kind], result: Checksum): Unit = {
    var weight = 1
    var c = 0
    while (c < kinds.length) {
      if (row.isNullAt(c)) result.addNull()
      else
        kinds(c) match {
          case Kind.Number => result.add(row.getLong(c))
          case Kind.Time   => result.add(row.getLong(c) / 1000)
          case Kind.Text   => result.add(row.getUTF8String(c).numBytes.toLong)
          case Kind.Change => if (!comes(row.getUTF8String(c))) weight = -1
        }
      c += 1
    }
    result.end(weight)
  }
}

/**
 * What a query has emitted so far.
 *
 * @param table into which it writes, if it does
 * @param committed is called with the number of each epoch, on the thread of the query
 */
private final class Received(
    val key: String,
    val delays: Option[Due],
    val table: Option[KeyedTable],
    committed: Long => Unit
) {
  val result = new Checksum

  /** Of each epoch: when it was committed, and its rows without a partner by the batch they were due. */
  val epochs = new ConcurrentHashMap[Long, (Long, Map[Int, Long])]

  private val watch = new Stopwatch
  private val cpu = new ConcurrentHashMap[Long, Double]

  /** Seconds until the first output. */
  @volatile private var first = Double.NaN

  /** How long the start of the query took. */
  def start: Seq[(String, Any)] = Seq("first_output_seconds" -> first) ++
    Option(cpu.get(9L)).map("cpu_seconds_of_ten_batches" -> _)

  /** CPU time of the process since the commit of the epoch before, in milliseconds. */
  def cpuMs(epoch: Long): Double =
    (cpu.getOrDefault(epoch, Double.NaN) - cpu.getOrDefault(epoch - 1, 0.0)) * 1000

  def add(epoch: Long, parts: Seq[Part]): Unit = {
    parts.foreach(part => result.merge(part.result))
    val due = parts.flatMap(_.due).groupMapReduce(_._1)(_._2)(_ + _)
    if (first.isNaN) first = watch.wallSeconds
    cpu.put(epoch, watch.cpuSeconds)
    epochs.put(epoch, (System.currentTimeMillis, due))
    committed(epoch)
  }
}

private object Received {
  private val all = new ConcurrentHashMap[String, Received]

  def open(workload: Workload, committed: Long => Unit): Received = {
    val table = workload.tableKeys.map(keys => new KeyedTable(keys.toInt))
    val received = new Received(UUID.randomUUID.toString, Due.of(workload), table, committed)
    all.put(received.key, received)
    received
  }

  def of(key: String): Received = all.get(key)
}
