package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.optimizer.{
  BooleanSimplification,
  ConstantFolding,
  ReplaceExpressions
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan}
import org.apache.spark.sql.streamjoin.conditions.PlainCondition

/**
 * The condition of a join as Spark's optimizer writes it. Only then some equalities are conjuncts:
 *
 * {{{
 *   (a.id = b.id AND a.x > 1) OR (a.id = b.id AND b.y > 2)     a.id = b.id AND (a.x > 1 OR b.y > 2)
 *   NOT (a.id <> b.id)                                         a.id = b.id
 * }}}
 */
private[logical] object OptimizedCondition {

  /** @param columns the columns of the inputs */
  def of(condition: Expression, columns: Seq[Attribute]): Expression = {
    val plain = InputColumns.in(PlainCondition.of(condition), columns)
    val rules = Seq(ReplaceExpressions, ConstantFolding, BooleanSimplification)
    rules.foldLeft[LogicalPlan](Filter(plain, LocalRelation(columns)))((p, rule) => rule(p)) match {
      case Filter(c, _) => c
      case _            => plain
    }
  }
}
