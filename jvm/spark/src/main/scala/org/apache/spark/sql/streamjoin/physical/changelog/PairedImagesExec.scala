package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  Literal,
  NamedExpression,
  SortOrder,
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

  /** @param added whether a row comes */
  def of(columns: Seq[Attribute], added: Attribute): SecondImage = {
    def replaced(a: Attribute) =
      DerivedColumn(Literal(null, a.dataType), s"_replaced_${a.name}", a, DerivedColumn.Replaced)
    SecondImage(
      DerivedColumn(Literal(false), "_replaces", added, DerivedColumn.Replaces),
      columns.map(a => a -> replaced(a))
    )
  }
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
  private val presentAt = columns.length

  private val like = EqualColumns.of(told, told, columns)

  /** What comes out, of a row and the one that it replaces. */
  private val (alone, paired) = {
    val before = columns.map(_.newInstance())
    val places = columns.map(_.exprId).zip(before).toMap
    val present = rowComes.newInstance()
    val wanted = columns ++ (present +: replaced.map(a => places(a.exprId)))
    (CopiedColumns.of(wanted, columns), CopiedColumns.of(wanted, columns, before))
  }

  private val gone = UnsafeRow.createFromByteArray(0, columns.length)

  /** The row that is next, read already. */
  private var ahead: UnsafeRow = _

  override def hasNext: Boolean = ahead != null || rows.hasNext

  override def next(): InternalRow = {
    val row = if (ahead != null) ahead else rows.next()
    ahead = null
    if (row.getBoolean(comesAt)) single(row)
    else {
      // before the next one is asked for, which may take its place
      gone.copyFrom(row)
      if (!rows.hasNext) single(gone) else follow(rows.next())
    }
  }

  /** What comes of a row that goes and the one behind it. */
  private def follow(after: UnsafeRow): InternalRow =
    if (after.getBoolean(comesAt) && like(gone, after)) {
      val row = paired(after, gone)
      row.setBoolean(presentAt, true)
      row
    } else {
      ahead = after
      single(gone)
    }

  private def single(row: UnsafeRow): InternalRow = {
    val out = alone(row)
    var i = presentAt + 1
    while (i < out.numFields) {
      out.setNullAt(i)
      i += 1
    }
    out
  }
}
