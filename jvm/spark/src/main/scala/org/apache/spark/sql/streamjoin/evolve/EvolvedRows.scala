package org.apache.spark.sql.streamjoin.evolve

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.physical.eventtime.BucketPlacement
import org.apache.spark.sql.streamjoin.physical.stateful.operator.StoredLayout
import org.apache.spark.sql.streamjoin.rewrite.RowMover

import io.streamjoin.model.{BySide, Side, Watermarks}
import io.streamjoin.placement.{Placement, ReachBuckets, StoredRowTargets}

/**
 * Counts of the stored rows of one side.
 *
 * @param read all rows
 * @param left those that are not stored any more
 * @param emitted those that the first batch emits without a match
 * @param late those of `emitted` that are behind the watermarks
 * @param nulls those with NULL in a column that is never NULL in the changed query
 */
private[evolve] final case class RowCounts(
    read: Long,
    left: Long,
    emitted: Long,
    late: Long,
    nulls: Long
) {

  def +(other: RowCounts): RowCounts = RowCounts(
    read + other.read,
    left + other.left,
    emitted + other.emitted,
    late + other.late,
    nulls + other.nulls
  )
}

private[evolve] object RowCounts {
  val Nothing: RowCounts = RowCounts(0L, 0L, 0L, 0L, 0L)
}

/**
 * The rows of a join of the checkpoint, as a changed join stores them.
 *
 * @param from for each side of the changed join, that of the checkpoint
 * @param values the columns of a row, from those of the stored row
 * @param evicting the watermarks that evict the rows of a side
 * @param partitions the number of the new partitions
 * @param partition the partition of the checkpoint with the rows
 */
private[evolve] final class EvolvedRows(
    join: StoredJoin,
    from: BySide[Side],
    values: BySide[Seq[Expression]],
    flags: BySide[FlagRule],
    layout: StoredLayout,
    evicting: BySide[Seq[Long]],
    partitions: Int,
    partition: Int
) extends RowMover[BySide[RowCounts]] {

  private val placement = Placement(join.routing, partition, join.partitions)
  private val sides = BySide.of(new OneSide(_))
  private val places = layout.reader()
  private val targets = new StoredRowTargets(layout.routing, partitions)

  override def apply(row: StoredRow): Iterator[(Int, StoredRow)] =
    if (isOwned(row)) sides(if (from.left == row.side) Side.Left else Side.Right)(row)
    else Iterator.empty

  override def found: BySide[RowCounts] = sides.map(_.counts)

  /** Of the copies of a row, only that of its owner counts. A hash identifies a hot key. */
  private def isOwned(row: StoredRow): Boolean =
    join.routing.countsIn(partition, row.side) &&
      placement.owns(row.side, row.key, row.time, ReachBuckets.NoPartition)

  private final class OneSide(side: Side) {
    private val rule = flags(side)
    private val watermarks = evicting(side).toArray
    private val known = watermarks.indexWhere(_ != Watermarks.Unknown)
    private lazy val project = UnsafeProjection.create(values(side))
    private lazy val partitionOf = UnsafeProjection.create(
      Seq(BucketPlacement.partitionOf(layout.placedBy(side), partitions)),
      layout.columns(side)
    )
    private val present = layout.present(side).map(layout.columns(side).indexOf).toArray
    private var (read, left, emitted, late, nulls) = (0L, 0L, 0L, 0L, 0L)

    def counts: RowCounts = RowCounts(read, left, emitted, late, nulls)

    def apply(row: StoredRow): Iterator[(Int, StoredRow)] = {
      read += 1
      val now = project(row.row)
      if (present.exists(now.isNullAt)) nulls += 1
      val place = places(side, now, row.matched)
      val isExpired = watermarks.indices.exists(k => place.limits(k) < watermarks(k))
      val isOver = isExpired || !place.canMatch
      if (isOver && !row.matched && rule.preserved) {
        emitted += 1
        if (isExpired) late += 1
        if (place.canMatch) placed(row, now, place) else placed(row, now, unreachable(place))
      } else if (isOver || rule.dropsMatched && row.matched) {
        left += 1
        Iterator.empty
      } else placed(row, now, place)
    }

    /** A place where no probe finds the row, and from which the first batch evicts it. */
    private def unreachable(place: StoredLayout.Place): StoredLayout.Place = {
      val limits = place.limits.clone()
      // limits that are not known to evict stay as the format computes them from the row
      if (known >= 0) limits(known) = Long.MinValue
      place.copy(key = ~place.key, time = Long.MinValue, limits = limits)
    }

    private def placed(
        row: StoredRow,
        now: UnsafeRow,
        place: StoredLayout.Place
    ): Iterator[(Int, StoredRow)] = {
      val found = mutable.Buffer.empty[(Int, StoredRow)]
      targets.foreach(side, place.key, place.time, now, partitionOf(now).getInt(0)) { (to, key) =>
        found += to -> StoredRow(side, key, place.time, place.limits, row.matched, now)
      }
      found.iterator
    }
  }
}
