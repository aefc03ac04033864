package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, EqualTo, Expression, UnsafeRow}
import org.apache.spark.sql.streamjoin.logical.plan.{EquiKey, KeyHash}

/**
 * Condition that consists of one equality of numbers or times. The hash of such a key is exact:
 * rows with one hash have equal keys. It only remains to check that neither key is NULL, since NULL
 * has the hash of some number.
 *
 * @param left the index of the key in the stored rows of the left input
 */
private[changelog] final class KeyOnlyCondition private (left: Int, right: Int) {

  def matches(l: UnsafeRow, r: UnsafeRow): Boolean = !l.isNullAt(left) && !r.isNullAt(right)
}

private[changelog] object KeyOnlyCondition {

  /** None if the join has no such condition, or if an input has tombstones. */
  def of(spec: ChangelogSpec): Option[KeyOnlyCondition] = spec.on.equiKeys match {
    case Seq(key @ EquiKey(l: Attribute, r: Attribute, _))
        if KeyHash.isExact(spec.on.equiKeys) && isOnly(key, spec.on.condition) &&
          spec.left.gone.isEmpty && spec.right.gone.isEmpty =>
      def place(of: ChangelogSide, a: Attribute) = of.storedColumns.indexWhere(_.exprId == a.exprId)
      Some(new KeyOnlyCondition(place(spec.left, l), place(spec.right, r)))
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
