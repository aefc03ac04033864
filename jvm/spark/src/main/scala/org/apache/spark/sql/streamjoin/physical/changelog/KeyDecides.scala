package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, EqualTo, Expression, UnsafeRow}
import org.apache.spark.sql.streamjoin.logical.plan.{EquiKey, KeyHash}

/**
 * A condition that is one equality of numbers or times: of rows whose join key has one hash it asks nothing more than that
 * the key is not NULL, for NULL has the hash of some number.
 *
 * @param left the place of the key in rows of the left input, as they are kept
 */
private[changelog] final class KeyDecides private (left: Int, right: Int) {

  def matches(l: UnsafeRow, r: UnsafeRow): Boolean = !l.isNullAt(left) && !r.isNullAt(right)
}

private[changelog] object KeyDecides {

  /** None where there is more to ask: another condition, or a row that stands for one that is gone. */
  def of(spec: ChangelogSpec): Option[KeyDecides] = spec.on.equiKeys match {
    case Seq(key @ EquiKey(l: Attribute, r: Attribute, _))
        if KeyHash.isExact(spec.on.equiKeys) && isOnly(key, spec.on.condition) &&
          spec.left.gone.isEmpty && spec.right.gone.isEmpty =>
      def place(of: ChangelogSide, a: Attribute) = of.storedColumns.indexWhere(_.exprId == a.exprId)
      Some(new KeyDecides(place(spec.left, l), place(spec.right, r)))
    case _ => None
  }

  private def isOnly(key: EquiKey, condition: Expression): Boolean = condition match {
    case And(a, b) => isOnly(key, a) && isOnly(key, b)
    case EqualTo(a, b) =>
      a.semanticEquals(key.left) && b.semanticEquals(key.right) ||
      a.semanticEquals(key.right) && b.semanticEquals(key.left)
    case _ => false
  }
}
