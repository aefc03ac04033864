package org.apache.spark.sql.streamjoin.physical.consolidate

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, ExprId}
import org.apache.spark.sql.types.{BooleanType, DataType}

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
  def replaces: Attribute = beside(added, "_replaces", BooleanType, DerivedColumn.Replaces)

  /** The columns that the format adds to a row. */
  def more: Seq[Attribute] = replaces +: replaced.map(old)

  /** The columns that have the values of the old image. */
  def before(columns: Seq[Attribute]): Seq[Attribute] =
    columns.map(a => if (replaced.exists(_.exprId == a.exprId)) old(a) else a)

  private def old(a: Attribute) =
    beside(a, s"_replaced_${a.name}", a.dataType, DerivedColumn.Replaced)

  private def beside(a: Attribute, name: String, dataType: DataType, kind: DerivedColumn.Kind) =
    AttributeReference(name, dataType, nullable = kind == DerivedColumn.Replaced)(
      DerivedColumn.id(a, kind)
    )
}

/**
 * Expression IDs of columns that the planner adds to those of the query. They are derived from the
 * IDs of the query's columns, and so are the same in each batch. With random IDs, a cached task
 * plan would never compare equal.
 */
private[physical] object DerivedColumn {

  /**
   * @param of the column of the query
   * @param kind distinguishes several columns that are derived from one
   */
  def id(of: Attribute, kind: Kind): ExprId = {
    val uuid = of.exprId.jvmId
    ExprId(
      of.exprId.id,
      new UUID(uuid.getMostSignificantBits ^ kind.mark, uuid.getLeastSignificantBits)
    )
  }

  sealed abstract class Kind(private[DerivedColumn] val mark: Long)
  case object Added extends Kind(0x61646465L)
  case object Replaces extends Kind(0x72657073L)
  case object Replaced extends Kind(0x72657064L)
}
