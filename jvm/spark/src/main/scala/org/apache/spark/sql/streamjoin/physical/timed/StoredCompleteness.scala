package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers

import io.streamjoin.model.Watermarks

/**
 * From when on the results of a changed query are complete: rows that it needs had left its state
 * before. `evolve` stores the watermark for each such column of the join, and the batch that reaches
 * it removes it.
 *
 * {{{
 *   complete.<column>   the watermark
 * }}}
 */
private[streamjoin] object StoredCompleteness {

  def name(column: Int): String = s"complete.$column"

  private val Name = raw"complete\.(\d+)".r

  /** The column to which a stored number belongs, if it is one of these. */
  def columnOf(number: String): Option[Int] = Some(number).collect { case Name(c) => c.toInt }

  /**
   * Removes the watermarks that are reached.
   *
   * @param now the watermarks at the end of a batch, by column
   * @return the others by column; `Unknown` where the results are complete
   */
  private[timed] def ahead(numbers: StoredNumbers, now: Array[Long]): Array[Long] =
    Array.tabulate(now.length) { column =>
      val stored = numbers.get(name(column))
      val isReached = stored.exists(_ <= now(column))
      if (isReached) numbers.remove(name(column))
      if (isReached) Watermarks.Unknown else stored.getOrElse(Watermarks.Unknown)
    }
}
