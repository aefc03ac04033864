package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.types.BooleanType

/**
 * Format of changes in which an update is one row: the new image, followed by the columns of the
 * old image that may differ. A flag replaces the row kind.
 *
 * {{{
 *   id  name  _added     _replaces  _replaced_name
 *   7   Ann   true       true       Bob                update of 7 from Bob to Ann
 *   8   Eva   true       false      NULL               insert
 *   9   Tom   false      false      NULL               delete
 * }}}
 *
 * @param added the flag: the row is inserted, not deleted
 * @param replaced the columns that may differ between both images
 */
private[physical] final case class PackedUpdate(added: Attribute, replaced: Seq[Attribute]) {

  /** Whether the row has an old image. */
  val replaces: Attribute = AttributeReference("_replaces", BooleanType, nullable = false)()

  private val old: Seq[Attribute] =
    replaced.map(a => AttributeReference(s"_replaced_${a.name}", a.dataType)())

  /** The columns that the format adds to a row. */
  def more: Seq[Attribute] = replaces +: old

  /** The columns that have the values of the old image. */
  def before(columns: Seq[Attribute]): Seq[Attribute] = {
    val olds = replaced.map(_.exprId).zip(old).toMap
    columns.map(a => olds.getOrElse(a.exprId, a))
  }
}
