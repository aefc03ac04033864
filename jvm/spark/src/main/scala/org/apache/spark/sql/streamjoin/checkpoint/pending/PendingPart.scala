package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  Literal,
  Unevaluable,
  UnsafeProjection
}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader}
import org.apache.spark.sql.execution.datasources.v2.PartitionReaderFromIterator
import org.apache.spark.sql.streamjoin.checkpoint.{StoredGroupColumns, StoredGroups, StoredRow}
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.placement.{Placement, ReachBuckets}
import io.streamjoin.watermark.GroupedWatermark

/** Input partition of the data source: one partition of one join's state. */
private[pending] final case class PendingPart(
    batch: Long,
    batchTimeMs: Option[Long],
    join: StoredJoin,
    partition: Int,
    sides: Map[Side, PendingSide]
) extends InputPartition {

  /**
   * Drops the sides for which the filter is not true. The filter must be one that
   * [[PendingPart.settled]] accepts.
   */
  def where(filter: Expression): PendingPart =
    copy(sides = sides.filter { case (side, shown) =>
      PendingPart.placed(
        filter,
        Seq(batch, join.operator, place(side).map(Int.box).orNull, shown.called)
      ).eval() == true
    })

  /**
   * @param columns indexes of the result columns
   */
  def read(hadoopConf: Configuration, columns: Seq[Int]): PartitionReader[InternalRow] = {
    val stored = join.read(partition, hadoopConf, inUse = true)
    val projections = sides.map { case (side, p) =>
      side -> UnsafeProjection.create(columns.map(p.expressions))
    }
    val slowest = slowestGroup(stored.numbers)
    val rows = stored.rows.filter(row => sides.contains(row.side) && isShown(row)).map { row =>
      val side = row.side
      val watermark = stored.watermark(side)
      projections(side)(
        sides(side).values(batch, join.operator, place(side), row, watermark, slowest)
      )
    }
    new PartitionReaderFromIterator[InternalRow](rows) {
      override def close(): Unit = stored.close()
    }
  }

  /** The slowest group of a source column, that its watermark waits for. */
  private def slowestGroup(
      numbers: Map[String, Long]
  ): Map[StoredGroupColumns, Option[UTF8String]] =
    sides.values.flatMap(_.groups.flatten).toSet.map { (of: StoredGroupColumns) =>
      val groups = GroupedWatermark(Watermarks.Unknown, StoredGroups.read(of.source, numbers))
      of -> groups.slowest(of.idleTimeoutMs, batchTimeMs).headOption.map { case (name, _) =>
        UTF8String.fromString(name)
      }
    }.toMap

  /**
   * Whether this partition returns the row. Of the copies of a row, only that of its owner counts.
   * The state stores only the hash of a key: if a hot key has this hash, the row counts as one of
   * the hot key.
   */
  private def isShown(row: StoredRow): Boolean =
    join.routing.countsIn(partition, row.side) &&
      placement.owns(row.side, row.key, row.time, ReachBuckets.NoPartition)

  @transient private lazy val placement = Placement(join.routing, partition, join.partitions)

  private def place(side: Side): Option[Int] =
    Option.when(!join.routing.copies(side))(partition)
}

private[pending] object PendingPart {

  /** Columns with one value for all rows of a part and a side. */
  private val same = Seq("batch_id", "operator_id", "partition_id", "side")

  /** Whether a filter depends only on columns with one value for all rows of a part and a side. */
  def settled(filter: Expression): Boolean =
    filter.deterministic && filter.references.nonEmpty &&
      filter.references.forall(a => same.contains(a.name)) &&
      !placed(filter, Seq(0L, 0L, 0, "")).exists(_.isInstanceOf[Unevaluable])

  private def placed(filter: Expression, values: Seq[Any]): Expression = filter.transform {
    case a: Attribute if same.contains(a.name) =>
      Literal.create(values(same.indexOf(a.name)), a.dataType)
  }
}
