package io.streamjoin.benchmarks.flink

import java.time.Instant
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import org.apache.flink.api.connector.sink2.{Sink, SinkWriter, WriterInitContext}
import org.apache.flink.table.data.RowData
import org.apache.flink.types.{Row, RowKind}

import io.streamjoin.benchmarks.{Checksum, KeyedTable, Kind, Workload}

/** Takes the result in and keeps what it comes to. */
private abstract class CheckingSink[T](key: String) extends Sink[T] {

  protected def add(row: T, part: Checksum): Unit

  override def createWriter(context: WriterInitContext): SinkWriter[T] =
    new SinkWriter[T] {
      private val part = new Checksum(Received.of(key).table)

      override def write(row: T, context: SinkWriter.Context): Unit = add(row, part)
      override def flush(endOfInput: Boolean): Unit = ()
      override def close(): Unit = Received.of(key).add(part)
    }
}

/** A result that is only added to. */
private final class RowSink(kinds: Array[Kind], key: String) extends CheckingSink[RowData](key) {

  override protected def add(row: RowData, part: Checksum): Unit = {
    var c = 0
    while (c < kinds.length) {
      if (row.isNullAt(c)) part.addNull()
      else
        kinds(c) match {
          case Kind.Number => part.add(row.getLong(c))
          case Kind.Time   => part.add(row.getTimestamp(c, 3).getMillisecond)
          case Kind.Text   => part.add(row.getString(c).toBytes.length.toLong)
          case Kind.Change => ()
        }
      c += 1
    }
    part.end()
  }
}

/** A result that is corrected: Flink hands its changes out as rows of another kind. */
private final class ChangeSink(columns: Int, key: String) extends CheckingSink[Row](key) {

  override protected def add(row: Row, part: Checksum): Unit = {
    var c = 0
    while (c < columns) {
      row.getField(c) match {
        case null                   => part.addNull()
        case number: java.lang.Long => part.add(number)
        case text: String           => part.add(text.length.toLong)
        case time: Instant          => part.add(time.toEpochMilli)
        case other => throw new IllegalArgumentException(s"column $c of a result: $other")
      }
      c += 1
    }
    part.end(if (added(row.getKind)) 1 else -1)
  }

  private def added(kind: RowKind): Boolean =
    kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER
}

/** What the writers of a query have taken in; the cluster is in this process. */
private final class Received(val key: String, val table: Option[KeyedTable]) {
  val result = new Checksum

  def add(part: Checksum): Unit = synchronized(result.merge(part))
}

private object Received {
  private val all = new ConcurrentHashMap[String, Received]

  def open(workload: Workload): Received = {
    val table = workload.tableKeys.map(keys => new KeyedTable(keys.toInt))
    val received = new Received(UUID.randomUUID.toString, table)
    all.put(received.key, received)
    received
  }

  def of(key: String): Received = all.get(key)
}
