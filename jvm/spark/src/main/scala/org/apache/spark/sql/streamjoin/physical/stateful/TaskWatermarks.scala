package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.watermark.JoinWatermarks

/** How the tasks of a batch of a join come to the watermarks that they go by. */
private[physical] trait WatermarksOfBatch extends Serializable {

  /**
   * @param partition of which a task may have several, one after the other
   * @param bases the source columns, in the order in which they are stored
   */
  def open(
      partition: Int,
      bases: Seq[BaseColumn],
      watermarks: JoinWatermarks,
      numbers: StoredNumbers
  ): TaskWatermarks
}

/** The watermarks of one batch in one partition of a join; of each kind those of all columns that it receives. */
private[physical] trait TaskWatermarks {

  /** By which the partition has evicted so far. */
  def evicted: Array[Long]

  /** By which rows of the batch are late. */
  def before: Array[Long]

  /** What is known of those of the end while rows are still to come. */
  def known: Array[Long]

  /** Those by which the partition evicts at the end; to be asked for when all rows have come. */
  def now: Array[Long]

  /** Those of the source columns, to be stored with the rows; to be asked for when all rows have come. */
  def base: BaseWatermarks

  /** Writes what else the next batch needs of this one. */
  def save(numbers: StoredNumbers): Unit

  /** How many rows were too far ahead, by metric, where nobody else counts them. */
  def ahead: Map[String, Long]
}
