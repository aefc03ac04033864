package io.streamjoin.sinks

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{ForeachWriter, Row}

/**
 * A sink that shows each row as soon as it is written, in the process of the driver. Spark's own
 * sinks for tests show the rows of a batch when it has ended.
 *
 * @param name identifies the query
 */
final class SeenRows(name: String) extends ForeachWriter[Row] {

  private var batch = 0L

  override def open(partition: Long, batch: Long): Boolean = {
    this.batch = batch
    true
  }

  /** Stores the time in milliseconds, the batch, and the row in JSON. */
  override def process(row: Row): Unit =
    SeenRows.of(name).add(s"${System.currentTimeMillis}\t$batch\t${row.json}")

  override def close(error: Throwable): Unit = ()
}

object SeenRows {

  private val rows = new ConcurrentHashMap[String, ConcurrentLinkedQueue[String]]

  private def of(name: String): ConcurrentLinkedQueue[String] =
    rows.computeIfAbsent(name, _ => new ConcurrentLinkedQueue)

  /** The rows of a query so far, one a line, in the order in which they were written. */
  def lines(name: String): String = of(name).asScala.mkString("\n")

  /** Removes the rows of a query. */
  def clear(name: String): Unit = of(name).clear()
}
