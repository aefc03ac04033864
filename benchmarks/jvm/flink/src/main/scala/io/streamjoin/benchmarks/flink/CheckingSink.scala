package io.streamjoin.benchmarks.flink

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import org.apache.flink.api.connector.sink2.{Sink, SinkWriter, WriterInitContext}
import org.apache.flink.table.data.RowData

import io.streamjoin.benchmarks.{Checksum, Kind}

/** Takes the result in and keeps what it comes to. */
private final class CheckingSink(kinds: Array[Kind], key: String) extends Sink[RowData] {

  override def createWriter(context: WriterInitContext): SinkWriter[RowData] =
    new SinkWriter[RowData] {
      private val part = new Checksum

      override def write(row: RowData, context: SinkWriter.Context): Unit = {
        var c = 0
        while (c < kinds.length) {
          if (row.isNullAt(c)) part.addNull()
          else
            kinds(c) match {
              case Kind.Number => part.add(row.getLong(c))
              case Kind.Time   => part.add(row.getTimestamp(c, 3).getMillisecond)
              case Kind.Text   => part.add(row.getString(c).toBytes.length.toLong)
            }
          c += 1
        }
        part.end()
      }

      override def flush(endOfInput: Boolean): Unit = ()
      override def close(): Unit = Received.of(key).add(part)
    }
}

/** What the writers of a query have taken in; the cluster is in this process. */
private final class Received(val key: String) {
  val result = new Checksum

  def add(part: Checksum): Unit = synchronized(result.merge(part))
}

private object Received {
  private val all = new ConcurrentHashMap[String, Received]

  def open(): Received = {
    val received = new Received(UUID.randomUUID.toString)
    all.put(received.key, received)
    received
  }

  def of(key: String): Received = all.get(key)
}
