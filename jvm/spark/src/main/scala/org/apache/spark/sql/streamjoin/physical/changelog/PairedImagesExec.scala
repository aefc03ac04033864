package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  Expression,
  JoinedRow,
  Literal,
  NamedExpression,
  SortOrder,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * The second image of an update, in the row of the first.
 *
 * @param present whether there is one
 * @param columns those in which it may be another, each with where its value is
 */
private[changelog] final case class SecondImage(
    present: NamedExpression,
    columns: Seq[(Attribute, NamedExpression)]
) {

  /** What a row has beside its own columns. */
  def added: Seq[NamedExpression] = present +: columns.map(_._2)

  /** The columns in which it may be another. */
  def replaced: Seq[Attribute] = columns.map(_._1)
}

private[changelog] object SecondImage {

  def of(columns: Seq[Attribute]): SecondImage =
    SecondImage(
      Alias(Literal(false), "_replaces")(),
      columns.map(a => a -> Alias(Literal(null, a.dataType), s"_replaced_${a.name}")())
    )
}

/**
 * Puts the two images of an update that come one after the other into one row, where they are equal in what
 * tells rows apart and brings them together: that is one row for the shuffle and the sort, not two. All else goes
 * through as it is, with no second image.
 *
 * Whether a row comes is a computed column, so there is a projection right below, whose rows are Spark's own.
 *
 * @param told what must be equal in both
 * @param rowComes whether a row is there from now on
 * @param replaced the columns of which rows have the value before, see [[SecondImage]]
 * @param added what rows have beside their own columns
 */
case class PairedImagesExec(
    told: Seq[Expression],
    rowComes: Attribute,
    replaced: Seq[Attribute],
    added: Seq[NamedExpression],
    child: SparkPlan
) extends UnaryExecNode {

  override def nodeName: String = "PairedImages"

  override def simpleString(maxFields: Int): String = nodeName

  override def output: Seq[Attribute] = child.output ++ added.map(_.toAttribute)

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val (equal, comes, others, columns) = (told, rowComes, replaced, child.output)
    child.execute().mapPartitionsInternal { rows =>
      new PairedImages(equal, comes, others, columns, rows.asInstanceOf[Iterator[UnsafeRow]])
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PairedImagesExec =
    copy(child = newChild)
}

private[changelog] final class PairedImages(
    told: Seq[Expression],
    rowComes: Attribute,
    replaced: Seq[Attribute],
    columns: Seq[Attribute],
    rows: Iterator[UnsafeRow]
) extends Iterator[InternalRow] {

  private val comesAt = columns.indexWhere(_.exprId == rowComes.exprId)
  private val (toldOf, toldOfNext) =
    (UnsafeProjection.create(told, columns), UnsafeProjection.create(told, columns))

  private val alone = UnsafeProjection.create(
    columns ++ (Literal(false) +: replaced.map(a => Literal(null, a.dataType))),
    columns
  )

  private val paired = {
    val before = columns.map(_.newInstance())
    val places = columns.map(_.exprId).zip(before).toMap
    UnsafeProjection.create(
      columns ++ (Literal(true) +: replaced.map(a => places(a.exprId))),
      columns ++ before
    )
  }

  private val pair = new JoinedRow
  private val gone = UnsafeRow.createFromByteArray(0, columns.length)

  /** The row that is next, read already. */
  private var ahead: UnsafeRow = _

  override def hasNext: Boolean = ahead != null || rows.hasNext

  override def next(): InternalRow = {
    val row = if (ahead != null) ahead else rows.next()
    ahead = null
    if (row.getBoolean(comesAt)) alone(row)
    else {
      // before the next one is asked for, which may take its place
      gone.copyFrom(row)
      if (!rows.hasNext) alone(gone) else follow(rows.next())
    }
  }

  /** What comes of a row that goes and the one behind it. */
  private def follow(after: UnsafeRow): InternalRow =
    if (after.getBoolean(comesAt) && toldOf(gone) == toldOfNext(after)) paired(pair(after, gone))
    else {
      ahead = after
      alone(gone)
    }
}
