package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.plan.ChangeKindOf

/**
 * How the changes that come out of a join go through a shuffle by their key: a word for the kind is whether the row
 * comes, and the two images of an update are one row.
 *
 * @param columns as they come out, with the word
 * @param added whether the row comes
 * @param second the image before it, where there is one
 */
private[changelog] final case class PairedChanges(
    columns: Seq[Attribute],
    added: Attribute,
    second: SecondImage
) {

  /** The columns, of the image that a row replaces. */
  val before: Seq[Attribute] = {
    val places = second.columns.map { case (a, e) => a.exprId -> e.toAttribute }.toMap
    columns.map(a => places.getOrElse(a.exprId, a))
  }
}

private[changelog] object PairedChanges {

  /**
   * @param list the columns as they come out
   * @param key what both images of an update are equal in
   * @param changes what is said of a change, among it its kind: alike for both but for that
   * @return the rows in that shape, and how to read them
   */
  def of(
      list: Seq[NamedExpression],
      key: Seq[Attribute],
      kind: Attribute,
      changes: Seq[Attribute],
      joined: ChangelogJoinExec
  ): (SparkPlan, PairedChanges) = {
    val columns = list.map(_.toAttribute)
    val added = DerivedColumn(ChangeKindOf.comes(kind), "_added", kind, DerivedColumn.Added)
    val others = columns.filterNot(a => (key ++ changes).exists(_.exprId == a.exprId))
    val paired =
      PairedChanges(columns, added.toAttribute, SecondImage.of(others, added.toAttribute))
    val asked = list.filterNot(_.exprId == kind.exprId) :+ added
    val told = FlaggedChanges.of(joined, asked).getOrElse(ProjectExec(asked, joined))
    (PairedImagesExec(key, paired.added, others, paired.second.added, told), paired)
  }
}
