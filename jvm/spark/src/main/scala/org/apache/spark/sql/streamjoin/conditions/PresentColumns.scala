package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._

/** Columns that are not null in any pair of rows that a condition lets through. */
private[streamjoin] object PresentColumns {

  def of(conjuncts: Seq[Expression]): AttributeSet = AttributeSet(conjuncts.flatMap(required))

  /** The columns without which an expression is null. */
  private def strict(e: Expression): Seq[Attribute] = e match {
    case a: Attribute          => Seq(a)
    case r: RuntimeReplaceable => strict(r.replacement)
    case _ if e.nullIntolerant => e.children.flatMap(strict)
    case _                     => Nil
  }

  /** The columns without which a predicate is not true. */
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
