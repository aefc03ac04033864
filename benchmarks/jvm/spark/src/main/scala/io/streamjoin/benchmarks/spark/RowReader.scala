package io.streamjoin.benchmarks.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.benchmarks.{Kind, RowStream}

private final class RowReaderFactory(stream: RowStream) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new RowReader(stream, partition.asInstanceOf[RowRange])
}

/** Gives the same object for every row, as Spark's own readers do. */
private final class RowReader(stream: RowStream, range: RowRange)
    extends PartitionReader[InternalRow] {
  private val row = new SpecificInternalRow(RowsSource.schema(stream))
  private val kinds = stream.columns.map(_.kind).toArray
  private var number = range.from - 1

  override def next(): Boolean = {
    number += 1
    number < range.until
  }

  override def get(): InternalRow = {
    var c = 0
    while (c < kinds.length) {
      val value = stream.value(number, c)
      kinds(c) match {
        case Kind.Number => row.setLong(c, value)
        case Kind.Time   => row.setLong(c, value * 1000)
        case Kind.Text   => row.update(c, UTF8String.fromBytes(RowReader.Filler, 0, value.toInt))
        case Kind.Change => row.update(c, RowReader.words(value.toInt))
      }
      c += 1
    }
    row
  }

  override def close(): Unit = ()
}

private object RowReader {
  val Filler: Array[Byte] = Array.fill(1024)('x'.toByte)
  val words: Array[UTF8String] = Kind.Change.words.map(UTF8String.fromString).toArray
}
