package org.apache.spark.sql.streamjoin.physical.consolidate

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId}

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
