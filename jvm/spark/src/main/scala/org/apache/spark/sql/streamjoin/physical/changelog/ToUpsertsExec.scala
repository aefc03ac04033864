package org.apache.spark.sql.streamjoin.physical.changelog

import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Attribute,
  Literal,
  RowOrdering,
  SortOrder,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.{
  ClusteredDistribution,
  Distribution,
  Partitioning
}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogMarks
import org.apache.spark.sql.streamjoin.shims.SparkCaseClass
import org.apache.spark.unsafe.types.{ByteArray, UTF8String}

import io.streamjoin.join.changelog.ChangeKind

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
    Seq(SparkCaseClass.make(classOf[ClusteredDistribution], key, Boolean.box(false), None))

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq(key.map(SortOrder(_, Ascending)))

  override protected def doExecute(): RDD[InternalRow] = {
    val (by, columns, ofKind) = (key, child.output, kind)
    child.execute().mapPartitionsInternal { rows =>
      new UpsertRuns(by, columns, ofKind, rows.asInstanceOf[Iterator[UnsafeRow]])
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ToUpsertsExec =
    copy(child = newChild)
}

private final class UpsertRuns(
    key: Seq[Attribute],
    columns: Seq[Attribute],
    kind: Attribute,
    rows: Iterator[UnsafeRow]
) extends Iterator[InternalRow] {

  private val byKey = RowOrdering.create(key.map(SortOrder(_, Ascending)), columns)
  private val kindAt = columns.indexWhere(_.exprId == kind.exprId)
  private val added =
    ChangeKind.all.filter(_.added).map(k => UTF8String.fromString(k.name)).toSet

  private val as: Map[ChangeKind, UnsafeProjection] = ChangeKind.all.map { k =>
    k -> UnsafeProjection.create(
      columns.map(a => if (a.exprId == kind.exprId) Literal(k.name) else a),
      columns
    )
  }.toMap

  private var ahead: Option[UnsafeRow] = next(rows)

  private def next(rows: Iterator[UnsafeRow]): Option[UnsafeRow] =
    Option.when(rows.hasNext)(rows.next().copy())

  private var current: Option[UnsafeRow] = None

  override def hasNext: Boolean = {
    while (current.isEmpty && ahead.nonEmpty) current = ofNextKey()
    current.nonEmpty
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more changes")
    val row = current.get
    current = None
    row
  }

  /** What a row is, whatever is said of its change. */
  private val identity = UnsafeProjection.create(
    columns.filterNot(a => a.exprId == kind.exprId || ChangelogMarks.isCommit(a)),
    columns
  )

  /** One image of the key, the change that told of it last, and how often it came more than it went. */
  private final class Image(var row: UnsafeRow, var times: Int)

  private def ofNextKey(): Option[UnsafeRow] = {
    val first = ahead.get
    val images = mutable.HashMap.empty[UnsafeRow, Image]
    while (ahead.exists(byKey.compare(first, _) == 0)) {
      val row = ahead.get
      val by = if (added(row.getUTF8String(kindAt))) 1 else -1
      images.get(identity(row)) match {
        case Some(image) =>
          image.row = largest(Some(image.row), row)
          image.times += by
        case None => images.put(identity(row).copy(), new Image(row, by))
      }
      ahead = next(rows)
    }
    def left(of: Int => Boolean) = images.valuesIterator
      .filter(i => of(i.times))
      .foldLeft(Option.empty[UnsafeRow])((one, i) => Some(largest(one, i.row)))
    (left(_ > 0), left(_ < 0)) match {
      case (Some(row), None)    => Some(as(ChangeKind.Insert)(row))
      case (Some(row), Some(_)) => Some(as(ChangeKind.Postimage)(row))
      case (None, gone)         => gone.map(as(ChangeKind.Delete)(_))
    }
  }

  /** Where a key is none, and several rows have it, the same one of them each time. */
  private def largest(a: Option[UnsafeRow], b: UnsafeRow): UnsafeRow =
    a.filter(x => ByteArray.compareBinary(x.getBytes, b.getBytes) >= 0).getOrElse(b)
}
