package io.streamjoin.benchmarks.spark

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{ForeachWriter, Row}

/**
 * Records the latency of each row: the time from its second column, a TIMESTAMP, to the call of the
 * sink. The first column identifies the row. Rows with NULL are not recorded. A process has one
 * query.
 */
final class LatencySink extends ForeachWriter[Row] {

  override def open(partition: Long, batch: Long): Boolean = true

  override def process(row: Row): Unit =
    if (!row.isNullAt(1)) {
      val at = row.getTimestamp(1).toInstant
      val micros = PacedClock.micros() - (at.getEpochSecond * 1000000 + at.getNano / 1000)
      LatencySink.add(row.getLong(0), micros)
    }

  override def close(error: Throwable): Unit = ()
}

object LatencySink {

  private var rows = new Array[Long](1 << 16)
  private var count = 0

  private def add(id: Long, micros: Long): Unit = synchronized {
    if (count == rows.length) rows = java.util.Arrays.copyOf(rows, 2 * count)
    rows(count) = id
    rows(count + 1) = micros
    count += 2
  }

  /** Whether a row has been recorded. */
  def hasRows: Boolean = synchronized(count > 0)

  /** Writes a line for each row: its ID and its latency in microseconds. */
  def write(file: String): Unit = synchronized {
    val out = Files.newBufferedWriter(Path.of(file))
    try for (i <- 0 until count by 2) out.write(s"${rows(i)} ${rows(i + 1)}\n")
    finally out.close()
  }
}
