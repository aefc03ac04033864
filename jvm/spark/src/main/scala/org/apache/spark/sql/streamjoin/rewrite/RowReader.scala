package org.apache.spark.sql.streamjoin.rewrite

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin

import io.streamjoin.model.BySide

/**
 * The rows of one operator, for a new checkpoint. [[StateWriter]] writes them, whatever they are read
 * from.
 *
 * @tparam F what a task finds out about its rows
 */
private[streamjoin] trait RowReader[F] extends Serializable {

  /** The number of parts. One task reads each of them. */
  def parts: Int

  /** Opens a part in the task that reads it. */
  def open(part: Int, hadoopConf: Configuration): RowPart[F]
}

/** The rows that one task reads. */
private[streamjoin] trait RowPart[F] {

  def partition: Int

  /** The named numbers beside its rows. */
  def numbers: Map[String, Long]

  /** The watermarks of its last eviction, by side and limit. */
  def evicted: BySide[Seq[Long]]

  /** All rows, each with its new partition. A row is valid until the next one is read. */
  def rows: Iterator[(Int, StoredRow)]

  /** What all rows together show. It is called after they have been read. */
  def found: F

  def close(): Unit
}

/** The rows in a partition of a join. */
private[streamjoin] abstract class StoredPart[F](
    join: StoredJoin,
    override val partition: Int,
    hadoopConf: Configuration
) extends RowPart[F] {

  protected val stored = join.read(partition, hadoopConf, inUse = false)

  override def numbers: Map[String, Long] = stored.numbers

  override def evicted: BySide[Seq[Long]] = BySide.of(stored.evicted(_).toSeq)

  override def close(): Unit = stored.close()
}
