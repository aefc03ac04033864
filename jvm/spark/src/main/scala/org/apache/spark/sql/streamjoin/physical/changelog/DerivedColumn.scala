package org.apache.spark.sql.streamjoin.physical.changelog

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression}

/**
 * A column that a plan has beside one of the query's: the same in each batch, as that one is. With a new identity each time
 * what tasks go by would never be what it was ([[ChangelogProgram]]).
 */
private[changelog] object DerivedColumn {

  /**
   * @param of the column beside which it is
   * @param kind tells several of one column apart
   */
  def apply(value: Expression, name: String, of: Attribute, kind: Kind): Alias =
    Alias(value, name)(exprId = idOf(of.exprId, kind))

  private def idOf(id: ExprId, kind: Kind): ExprId = {
    val of = id.jvmId
    ExprId(id.id, new UUID(of.getMostSignificantBits ^ kind.mark, of.getLeastSignificantBits))
  }

  sealed abstract class Kind(private[DerivedColumn] val mark: Long)
  case object Added extends Kind(0x61646465L)
  case object Replaces extends Kind(0x72657073L)
  case object Replaced extends Kind(0x72657064L)
}
