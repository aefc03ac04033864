package org.apache.spark.sql.streamjoin.rescale

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin

import io.streamjoin.model.{BySide, Side, Watermarks}
import io.streamjoin.placement.HotKey

/**
 * What one old partition contains, found before anything is written.
 *
 * @param numbers the named numbers beside its rows
 * @param evicted the watermarks of its last eviction, by side and limit
 * @param readings for each side, the readings of the keys that all rows agree with
 * @param hotKeys hot keys with rows in it, with their new partitions
 * @param targets the rows that it gives to each new partition
 */
private[rescale] final case class Survey(
    partition: Int,
    numbers: Map[String, Long],
    evicted: BySide[Seq[Long]],
    readings: BySide[Set[Int]],
    hotKeys: Map[HotKey, HotKey],
    targets: Map[Int, Share]
)

/**
 * Rows of a new partition.
 *
 * @param latest the latest times of each side
 */
private[rescale] final case class Share(count: Long, latest: BySide[Long]) {

  def +(other: Share): Share = Share(
    count + other.count,
    BySide.of(side => math.max(latest(side), other.latest(side)))
  )
}

private[rescale] object Share {
  val Nothing: Share = Share(0L, BySide(Watermarks.Unknown, Watermarks.Unknown))
}

private[rescale] object Survey {

  def of(
      join: StoredJoin,
      keys: BySide[Seq[KeyReading]],
      to: Int,
      partition: Int,
      hadoopConf: Configuration
  ): Survey = {
    val places = new RowPlaces(join, keys, to, partition)
    val counts = new Array[Long](to)
    val latest = Side.both.map(_ => Array.fill(to)(Watermarks.Unknown)).toArray
    val stored = join.read(partition, hadoopConf, inUse = false)
    try stored.rows.foreach { row =>
        places.foreach(row) { (target, _) =>
          counts(target) += 1
          val times = latest(row.side.index)
          times(target) = math.max(times(target), row.time)
        }
      }
    finally stored.close()
    Survey(
      partition,
      stored.numbers,
      BySide.of(stored.evicted(_).toSeq),
      BySide.of(places.readings),
      places.hotKeys,
      counts.indices.filter(counts(_) > 0).map { target =>
        target -> Share(counts(target), BySide.of(side => latest(side.index)(target)))
      }.toMap
    )
  }
}
