package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

import io.streamjoin.join.Disorder
import io.streamjoin.watermark.DisorderSketch

/**
 * The disorder of the columns of a join since the start of its query. Each partition stores it with
 * its rows, so that a restart continues it. The driver adds the partitions up for the report of a
 * batch. A checkpoint without these numbers starts at zero.
 *
 * {{{
 *   d<column>.has0, .has1   bit set of the buckets with rows
 *   d<column>.<bucket>      rows of the bucket
 *   d<column>.most          the greatest distance
 * }}}
 *
 * Names are short because each version of the state contains them.
 */
private[physical] final class StoredDisorder(val seen: Disorder) {
  import StoredDisorder._

  private var restored = Map.empty[(Int, Int), Long]

  def restore(numbers: StoredNumbers): Unit = {
    restored = (for {
      (column, sketch) <- seen.sketches.toSeq
      word <- 0 until Words
      bits <- numbers.get(has(column, word)).toSeq
      bucket <- 64 * word until 64 * (word + 1) if (bits >>> bucket & 1) == 1
      rows <- numbers.get(rowsOf(column, bucket))
    } yield {
      sketch.add(bucket, rows)
      (column, bucket) -> rows
    }).toMap
    for ((column, sketch) <- seen.sketches) numbers.get(most(column)).foreach(sketch.raise)
  }

  /** Writes the buckets that have changed. */
  def save(numbers: StoredNumbers): Unit =
    for ((column, sketch) <- seen.sketches) {
      val filled = sketch.filled
      val changed = filled.filterNot { case (b, rows) => restored.get((column, b)).contains(rows) }
      if (changed.nonEmpty) {
        changed.foreach { case (bucket, rows) => numbers.put(rowsOf(column, bucket), rows) }
        for (word <- 0 until Words) {
          val bits = filled.keys.filter(_ / 64 == word).map(1L << _).foldLeft(0L)(_ | _)
          numbers.put(has(column, word), bits)
        }
        numbers.put(most(column), sketch.greatest)
      }
    }

  /**
   * Rows by column and bucket, for the sum over partitions.
   *
   * @param ofColumn whether this partition counts the rows of a column; of a copied input, only one
   *   partition does
   */
  def counts(ofColumn: Int => Boolean): Map[String, Long] =
    for {
      (column, sketch) <- seen.sketches
      if ofColumn(column)
      (bucket, rows) <- sketch.filled
    } yield rowsOf(column, bucket) -> rows
}

private[streamjoin] object StoredDisorder {

  /** The share of rows that the lag for most rows covers. */
  private val Most = 0.999

  private val Words = (DisorderSketch.Buckets + 63) / 64

  /**
   * The disorder of each column over all partitions since the start of the query, for display.
   *
   * @param counts the sums of [[StoredDisorder.counts]] over the partitions
   */
  private[physical] def of(
      spec: TimedJoinSpec,
      counts: Map[String, Long],
      extremes: Array[Long]
  ): Seq[Seen] =
    for {
      (name, column) <- spec.times.names
      lag <- spec.times.lagsOfDisorder.get(column).toSeq
      sketch = sum(column, counts, JoinExtremes.furthestEver(spec, extremes, column))
      if sketch.rows > 0
    } yield Seen(name, spec.times.unit(column), lag, sketch)

  final case class Seen(name: String, unit: TimeUnit, lag: Long, sketch: DisorderSketch) {

    private def most: Long = sketch.covering(Most)

    /**
     * The lags that would have covered most rows and all rows, and the number of rows. Lags are in
     * milliseconds, or in the unit of a numeric column.
     */
    def readings: Seq[(String, Long)] = Seq(
      s"disorderRows.$name" -> sketch.rows,
      s"lagForMost.$name" -> shown(most),
      s"lagForAll.$name" -> shown(sketch.greatest)
    )

    def words: String = {
      val all = unit.words(sketch.greatest)
      val kept =
        if (most == sketch.greatest) s"$all would have accepted all of"
        else s"${unit.words(most)} would have accepted 99.9 %, $all all of"
      s"lag of $name: $kept ${sketch.rows} rows; now ${unit.words(lag)}"
    }

    /** Rounds up, since a shorter lag would drop the row. */
    private def shown(distance: Long): Long = -unit.shown(-distance)
  }

  private def sum(column: Int, counts: Map[String, Long], greatest: Long): DisorderSketch = {
    val sketch = new DisorderSketch
    for (bucket <- 0 until DisorderSketch.Buckets)
      counts.get(rowsOf(column, bucket)).foreach(sketch.add(bucket, _))
    sketch.raise(greatest)
    sketch
  }

  private val Part = raw"d(\d+)\.(most|has\d+|\d+)".r

  /** The column whose disorder a stored number is part of, if it is. */
  def columnOf(name: String): Option[Int] = name match {
    case Part(column, _) => Some(column.toInt)
    case _               => None
  }

  /** One of these numbers for the rows of several partitions together. */
  def added(name: String, numbers: Seq[Long]): Long = name match {
    case Part(_, "most")                         => numbers.max
    case Part(_, part) if part.startsWith("has") => numbers.reduce(_ | _)
    case _                                       => numbers.sum
  }

  private def has(column: Int, word: Int): String = s"d$column.has$word"

  private def rowsOf(column: Int, bucket: Int): String = s"d$column.$bucket"

  private def most(column: Int): String = s"d$column.most"
}
