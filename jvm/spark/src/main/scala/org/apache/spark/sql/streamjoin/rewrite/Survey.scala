package org.apache.spark.sql.streamjoin.rewrite

import org.apache.spark.sql.streamjoin.checkpoint.StoredRows

import io.streamjoin.model.{BySide, Side, Watermarks}

/**
 * What one partition of the rows contains, found before anything is written.
 *
 * @param numbers the named numbers beside its rows
 * @param evicted the watermarks of its last eviction, by side and limit
 * @param targets the rows that it gives to each new partition
 * @param found see [[RowMover.found]]
 */
private[streamjoin] final case class Survey[F](
    partition: Int,
    numbers: Map[String, Long],
    evicted: BySide[Seq[Long]],
    targets: Map[Int, Share],
    found: F
)

/**
 * Rows of a new partition.
 *
 * @param latest the latest times of each side
 */
private[streamjoin] final case class Share(count: Long, latest: BySide[Long]) {

  def +(other: Share): Share = Share(
    count + other.count,
    BySide.of(side => math.max(latest(side), other.latest(side)))
  )
}

private[streamjoin] object Share {
  val Nothing: Share = Share(0L, BySide(Watermarks.Unknown, Watermarks.Unknown))

  /** The shares of all new partitions with rows. */
  def all(surveys: Seq[Survey[_]]): Map[Int, Share] =
    surveys.flatMap(_.targets).groupMapReduce(_._1)(_._2)(_ + _)
}

private[streamjoin] object Survey {

  /** Reads all rows of a partition, and closes it. */
  def of[F](partition: Int, stored: StoredRows, mover: RowMover[F], to: Int): Survey[F] = {
    val counts = new Array[Long](to)
    val latest = Side.both.map(_ => Array.fill(to)(Watermarks.Unknown)).toArray
    try stored.rows.flatMap(mover).foreach { case (target, row) =>
        counts(target) += 1
        val times = latest(row.side.index)
        times(target) = math.max(times(target), row.time)
      }
    finally stored.close()
    Survey(
      partition,
      stored.numbers,
      BySide.of(stored.evicted(_).toSeq),
      counts.indices.filter(counts(_) > 0).map { target =>
        target -> Share(counts(target), BySide.of(side => latest(side.index)(target)))
      }.toMap,
      mover.found
    )
  }
}
