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
import org.apache.spark.sql.streamjoin.checkpoint.formats.StateFormats
import org.apache.spark.sql.streamjoin.checkpoint.{StoredRow, StoredVersion}

import io.streamjoin.model.Side
import io.streamjoin.placement.{MaybePartition, Placement, Routing}

/** What a task is to read: one partition of one join. */
private[pending] final case class PendingPart(
    batch: Long,
    operator: Long,
    partition: Int,
    partitions: Int,
    format: String,
    routing: Routing,
    version: StoredVersion,
    sides: Map[Side, PendingSide]
) extends InputPartition {

  /** Without the sides whose rows a filter drops, all of them; see [[PendingPart.settled]]. */
  def where(filter: Expression): PendingPart =
    copy(sides = sides.filter { case (side, shown) =>
      PendingPart.placed(
        filter,
        Seq(batch, operator, place(side).map(Int.box).orNull, shown.called)
      ).eval() == true
    })

  /** @param columns those of the result, by their places */
  def read(hadoopConf: Configuration, columns: Seq[Int]): PartitionReader[InternalRow] = {
    val stored = StateFormats.of(format).read(version, hadoopConf)
    val projections = sides.map { case (side, p) =>
      side -> UnsafeProjection.create(columns.map(p.expressions))
    }
    val rows = stored.rows.filter(row => sides.contains(row.side) && isShown(row))
    new PartitionReader[InternalRow] {
      private var current: StoredRow = _

      override def next(): Boolean = {
        val more = rows.hasNext
        if (more) current = rows.next()
        more
      }

      override def get(): InternalRow = {
        val side = current.side
        val values =
          sides(side).values(batch, operator, place(side), current, stored.watermarks(side))
        projections(side)(values)
      }

      override def close(): Unit = stored.close()
    }
  }

  /**
   * Copies of a row that several partitions hold are shown once. Where a key is spread it is not known whether the row
   * is of another one with its hash.
   */
  private def isShown(row: StoredRow): Boolean =
    routing.countsIn(partition, row.side) &&
      placement.owns(row.side, row.key, row.time, MaybePartition.None)

  @transient private lazy val placement = Placement(routing, partition, partitions)

  private def place(side: Side): Option[Int] = Option.when(!routing.copies(side))(partition)
}

private[pending] object PendingPart {

  /** The columns that are the same for all rows of a part and a side. */
  private val same = Seq("batch_id", "operator_id", "partition_id", "side")

  /** Whether a filter asks for nothing that differs from row to row. */
  def settled(filter: Expression): Boolean =
    filter.deterministic && filter.references.nonEmpty &&
      filter.references.forall(a => same.contains(a.name)) &&
      !placed(filter, Seq(0L, 0L, 0, "")).exists(_.isInstanceOf[Unevaluable])

  private def placed(filter: Expression, values: Seq[Any]): Expression = filter.transform {
    case a: Attribute if same.contains(a.name) =>
      Literal.create(values(same.indexOf(a.name)), a.dataType)
  }
}
