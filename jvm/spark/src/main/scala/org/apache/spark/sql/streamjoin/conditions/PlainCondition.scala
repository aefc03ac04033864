package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._

/**
 * A condition with BETWEEN as the two comparisons it stands for: each can be a bound by itself. They
 * are those that Spark has resolved, with the casts between operands of different types. A part that
 * was given a name, as a Column may be, has none any more.
 */
private[streamjoin] object PlainCondition {

  def of(condition: Expression): Expression = condition.transformUp {
    case Alias(part, _)                => part
    case b: Between if b.deterministic => b.replacement
    case w: With if w.deterministic =>
      w.child.transform { case r: CommonExpressionRef =>
        w.defs.find(_.id == r.id).fold[Expression](r)(_.child)
      }
  }
}
