package org.apache.spark.sql.streamjoin.rescale

import scala.collection.mutable

import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.rewrite.RowMover

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.{ReachBuckets, _}

/**
 * What the rows of a partition show of their keys.
 *
 * @param readings for each side, the readings of the keys that all rows agree with
 * @param hotKeys hot keys with rows in it, with their new partitions
 */
private[rescale] final case class FoundKeys(
    readings: BySide[Set[Int]],
    hotKeys: Map[HotKey, HotKey]
)

/**
 * The new partitions of the rows of one old partition.
 *
 * A reading of the keys is right if each row is stored under the hash that the reading computes, and
 * in its partition.
 *
 * The new partition of a hot key follows from the key of one of its rows.
 *
 * @param keys for each side, the readings of the stored keys that are possible
 * @param to the new number of partitions
 */
private[rescale] final class RowPlaces(
    join: StoredJoin,
    keys: BySide[Seq[KeyReading]],
    to: Int,
    partition: Int
) extends RowMover[FoundKeys] {
  import join.{partitions => from, routing}

  private val placement = Placement(routing, partition, from)
  private val keyed = keys.map(_.nonEmpty)
  private val possible = mutable.Map.from(Side.both.map { side =>
    side -> keys(side).map(new KeyValues(_, from, to)).zipWithIndex
  })
  private val moved = mutable.LinkedHashMap.empty[HotKey, HotKey]
  private var targets = targetsWith(Nil)

  private val hot: Map[Long, HotKey] = routing match {
    case Routing.ByKeyAndTime(_, hot) => hot.keys.map(key => key.hash -> key).toMap
    case _                            => Map.empty
  }

  /** The indexes of the readings of a side's keys that all rows agree with. */
  def readings(side: Side): Set[Int] = possible(side).map(_._2).toSet

  /** The hot keys of which it has seen a row, with their new partitions. */
  def hotKeys: Map[HotKey, HotKey] = moved.toMap

  override def found: FoundKeys =
    FoundKeys(BySide.of((side: Side) => readings(side)), hotKeys)

  override def apply(row: StoredRow): Iterator[(Int, StoredRow)] = {
    val targets = mutable.Buffer.empty[(Int, StoredRow)]
    foreach(row)((target, key) => targets += target -> row.copy(key = key))
    targets.iterator
  }

  /**
   * Visits the new partitions of a row, each with the key under which it is stored there. A replica
   * has none, because its owner has the row, too.
   */
  def foreach(row: StoredRow)(visit: (Int, Long) => Unit): Unit =
    if (routing.countsIn(partition, row.side)) {
      if (!keyed(row.side)) place(row, ReachBuckets.NoPartition, 0)(visit)
      else {
        for (values <- agreeing(row)) {
          for (key <- hot.get(row.key) if key.partition == values.oldPartition)
            meet(key, values.newPartition)
          place(row, values.oldPartition, values.newPartition)(visit)
        }
      }
    }

  private def place(row: StoredRow, old: Int, keyPartition: Int)(
      visit: (Int, Long) => Unit
  ): Unit =
    if (placement.owns(row.side, row.key, row.time, old))
      targets.foreach(row.side, row.key, row.time, row.row, keyPartition)(visit)

  private def meet(key: HotKey, newPartition: Int): Unit =
    if (!moved.contains(key)) {
      moved(key) = key.copy(partition = newPartition)
      targets = targetsWith(moved.values.toSeq)
    }

  private def targetsWith(keys: Seq[HotKey]): StoredRowTargets = new StoredRowTargets(
    routing match {
      case r: Routing.ByKeyAndTime => r.copy(hot = r.hot.copy(keys = keys))
      case other                   => other
    },
    to
  )

  /** Drops the readings that the row contradicts, and returns one of the others. */
  private def agreeing(row: StoredRow): Option[KeyValues] = {
    val before = possible(row.side)
    before.foreach(_._1.read(row.row))
    if (!before.forall(reading => agrees(reading._1, row)))
      possible(row.side) = before.filter(reading => agrees(reading._1, row))
    possible(row.side).headOption.map(_._1)
  }

  private def agrees(values: KeyValues, row: StoredRow): Boolean =
    values.isStoredUnder(row.key) &&
      (!values.placed || values.oldPartition == partition || isInBucket(row, values.oldPartition))

  /** Whether the row is in the partition of a time bucket, instead of that of its key. */
  private def isInBucket(row: StoredRow, keyPartition: Int): Boolean = routing match {
    case buckets: Routing.ByBuckets =>
      buckets.owner(row.side, row.key, row.time, from, keyPartition) != ReachBuckets.NoPartition
    case _ => false
  }
}
