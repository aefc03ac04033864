package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, NamedExpression}
import org.apache.spark.sql.streamjoin.logical.plan.ChangeKindOf

/**
 * Optimization for an operator that reads the row kind of a join only as a flag: a join above, or a
 * consolidation. The join writes the flag itself. Otherwise it would write a word, and a projection
 * would read the word and copy the row.
 */
private[changelog] object FlaggedChanges {

  /**
   * @param list the projection right above the join
   * @return the join with this list as its output; none if the projection does more than replace
   *   the row kind by the flag
   */
  def of(joined: ChangelogJoinExec, list: Seq[NamedExpression]): Option[ChangelogJoinExec] = {
    val kind = joined.spec.output.changes.head.exprId
    val (flags, others) = list.partition {
      case Alias(e, _) => ChangeKindOf.coming(e).exists(_.exprId == kind)
      case _           => false
    }
    val ids = others.collect { case a: Attribute => a.exprId }
    val plain = joined.output.map(_.exprId).filterNot(_ == kind)
    val isAll =
      ids.length == others.length && ids.length == plain.length && ids.toSet == plain.toSet
    Option.when(isAll && flags.length == 1)(
      joined.giving(list.map(_.toAttribute), flags.head.toAttribute)
    )
  }
}
