package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._

/**
 * A condition without aliases, and with BETWEEN replaced by its two comparisons, each of which can
 * be a bound.
 *
 * Each comparison is the one that Spark has resolved, with casts between operands of different
 * types.
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
