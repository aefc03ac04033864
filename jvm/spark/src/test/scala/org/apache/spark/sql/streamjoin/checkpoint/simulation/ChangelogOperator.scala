package org.apache.spark.sql.streamjoin.checkpoint.simulation

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{StateShape, StoredNumbers}

import io.streamjoin.join.Counters
import io.streamjoin.join.changelog.{
  Change,
  ChangeBuffer,
  ChangelogCases,
  ChangelogJoin,
  ChangelogTable,
  Out,
  PartnerCounts,
  Row
}
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.state.JoinState

/** A random changelog join. A unit is the change of one row, with its old image. */
private[simulation] final class ChangelogOperator(
    random: Random,
    override val partitions: Int,
    length: Int
) extends Operator {
  import ChangelogOperator._

  private val joinType = JoinType.all(random.nextInt(JoinType.all.length))
  private val join = ChangelogCases.randomJoin(random, joinType)
  private val tables = BySide.of(new ChangelogTable(join, _, random))
  private val table = new RowTable[Row]
  private val span = 1L + random.nextInt(8)

  private val units: IndexedSeq[Changed] = (1 to length).map { _ =>
    val side = Side.both(random.nextInt(2))
    val changes = tables(side).change()
    Changed(side, changes, BySide.of(tables(_).rows.toSeq))
  }

  override val shape: StateShape =
    StateShape(
      _ => Operator.schema,
      _ => 2,
      _ => span,
      (side, row, _) => {
        val limits = new Array[Long](2)
        join(side).limits(table.decode(row), limits)
        limits
      }
    )

  private def partitionOf(row: Row): Int = (join.hash(row.join) % partitions).toInt

  override def run(
      partition: Int,
      batch: Range,
      state: JoinState[UnsafeRow],
      numbers: StoredNumbers,
      random: Random
  ): Seq[Any] = {
    val operator = new ChangelogJoin[Row, Out](
      join.joinType,
      join,
      join.output,
      new DecodedState(state, table),
      new Counters,
      new PartnerCounts
    )
    val changes = for {
      unit <- random.shuffle(batch.flatMap(units.lift))
      change <- unit.changes if partitionOf(change.row) == partition
    } yield (join.hash(change.row.join), unit.side, change)
    changes.map(_._1).distinct.sorted.flatMap { key =>
      def of(side: Side) = {
        val buffer = new ChangeBuffer[Row]
        for ((`key`, `side`, change) <- changes) buffer.add(change.row, change.added)
        buffer
      }
      operator.process(key, of(Side.Left), of(Side.Right)).map(c => c.kind.added -> c.row).toVector
    }
  }

  /** R25: the result after the batch minus the result before it. */
  override def expected(partition: Int, ends: Seq[Int]): IndexedSeq[Seq[Any]] =
    Operator.batches(ends).map { batch =>
      val (before, after) = (result(partition, batch.start), result(partition, batch.end))
      after.diff(before).map(true -> _) ++ before.diff(after).map(false -> _)
    }.toIndexedSeq

  private def result(partition: Int, end: Int): Seq[Out] =
    if (end == 0) Nil
    else {
      val rows = units(math.min(end, units.length) - 1).rows
      def of(side: Side) = rows(side).filter(partitionOf(_) == partition)
      ChangelogCases.shown(join.result(of(Side.Left), of(Side.Right)))
    }

  override def shown(batch: Range): String =
    batch.flatMap(units.lift).map(u => s"${u.side.name} ${u.changes.mkString(", ")}").mkString("; ")

  override def toString: String = s"$join, $partitions partitions"
}

private[simulation] object ChangelogOperator {

  /** @param rows the tables after it */
  private final case class Changed(side: Side, changes: Seq[Change[Row]], rows: BySide[Seq[Row]])
}
