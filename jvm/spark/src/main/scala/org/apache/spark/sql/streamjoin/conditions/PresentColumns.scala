package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._

/** Columns that are not null in any pair of rows that satisfies a condition. */
private[streamjoin] object PresentColumns {

  def of(conjuncts: Seq[Expression]): AttributeSet = AttributeSet(conjuncts.flatMap(required))

  /** Columns that, if null, make an expression null. */
  private def strict(e: Expression): Seq[Attribute] = e match {
    case a: Attribute          => Seq(a)
    case r: RuntimeReplaceable => strict(r.replacement)
    case _ if e.nullIntolerant => e.children.flatMap(strict)
    case _                     => Nil
  }

  /** Columns that, if null, prevent a predicate from being true. */
  private def required(e: Expression): Seq[Attribute] = e match {
    case IsNotNull(c)        => strict(c)
    case And(l, r)           => required(l) ++ required(r)
    case Or(l, r)            => required(l).intersect(required(r))
    case In(value, _)        => strict(value)
    case c: BinaryComparison => strict(c)
    case Not(c)              => strict(c)
    case r: RetentionLimit   => required(r.child)
    case _                   => Nil
  }
}
