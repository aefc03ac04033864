package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogMarks
import org.apache.spark.sql.streamjoin.physical.stateful.JoinDistribution

import io.streamjoin.join.changelog.{ChangeKind, Changed, ChangelogCounters}

/**
 * One row for each key of a batch. The two halves of a row whose join key has changed come from two
 * partitions: they meet here, and nothing has to be kept for it.
 *
 * {{{
 *   rows that come   rows that go
 *   some             none            -> insert
 *   some             some            -> update_postimage
 *   none             some            -> delete
 * }}}
 *
 * A row that comes as it went is no change: the columns that differ are not among those asked for. Of a row
 * that came and went several times, as in a feed of whole images, the last image alone is left.
 */
case class ToUpsertsExec(key: Seq[Attribute], kind: Attribute, child: SparkPlan)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(JoinDistribution.together(key))

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq(key.map(SortOrder(_, Ascending)))

  override protected def doExecute(): RDD[InternalRow] = {
    val (order, by, columns, ofKind) = (requiredChildOrdering.head, key, child.output, kind)
    child.execute().mapPartitionsInternal { rows =>
      new UpsertRuns(order, by, columns, ofKind, rows.asInstanceOf[Iterator[UnsafeRow]])
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ToUpsertsExec =
    copy(child = newChild)
}

private final class UpsertRuns(
    order: Seq[SortOrder],
    key: Seq[Attribute],
    columns: Seq[Attribute],
    kind: Attribute,
    rows: Iterator[UnsafeRow]
) extends Iterator[InternalRow] {

  /** What a row is, whatever is said of its change. */
  private val told =
    columns.filterNot(a => a.exprId == kind.exprId || ChangelogMarks.isCommit(a))

  private val runs =
    new NettedRuns(order, key, told, kind, columns, rows, new ChangelogCounters)

  private var current: Option[InternalRow] = None

  override def hasNext: Boolean = {
    while (current.isEmpty && runs.hasNext) current = one(runs.next())
    current.nonEmpty
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more changes")
    val row = current.get
    current = None
    row
  }

  /** Where a key is none, and several rows have it, the same one of them each time. */
  private def one(changes: Iterator[Changed[NettedRuns.Image]]): Option[InternalRow] = {
    var came, went = Option.empty[NettedRuns.Image]
    changes.foreach(c => if (c.kind.added) came = Some(c.row) else went = Some(c.row))
    (came, went) match {
      case (Some(image), None)    => Some(runs.row(ChangeKind.Insert, image))
      case (Some(image), Some(_)) => Some(runs.row(ChangeKind.Postimage, image))
      case (None, gone)           => gone.map(runs.row(ChangeKind.Delete, _))
    }
  }
}
