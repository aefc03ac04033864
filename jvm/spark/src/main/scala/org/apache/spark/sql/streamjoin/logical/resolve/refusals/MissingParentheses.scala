package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.expressions.{
  And,
  BinaryComparison,
  BinaryOperator,
  Cast,
  Expression,
  Or
}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.types.{BooleanType, NullType}

/**
 * Finds a value where a condition is required. In Python, `&` and `|` bind more tightly than
 * comparisons:
 *
 * {{{
 *   col("o.id") == col("d.id") & (col("d.t") >= col("o.t"))      o.id = (d.id AND d.t >= o.t)
 * }}}
 */
private[refusals] object MissingParentheses {

  /**
   * The error of the first such operand. In a condition that Spark refuses, it is one that Spark
   * refuses; otherwise Spark has cast the value to BOOLEAN.
   */
  def refusal(condition: Expression, origin: Origin): Option[StreamJoinAnalysisException] =
    condition.collectFirst {
      case b: BinaryOperator
          if b.childrenResolved && b.resolved == condition.resolved && mixes(b) =>
        StreamJoinErrors.unsupportedCondition(
          origin,
          b,
          "a value where a condition is required",
          "In Python, & and | bind more tightly than comparisons. Put each comparison in " +
            "parentheses, as in (o.id == d.id) & (d.time >= o.time)"
        )
    }

  private def mixes(b: BinaryOperator): Boolean = b match {
    case _: And | _: Or      => b.children.exists(isValue)
    case _: BinaryComparison => b.children.exists(isConnected) && b.children.exists(isValue)
    case _                   => false
  }

  private def isConnected(e: Expression): Boolean = e.isInstanceOf[And] || e.isInstanceOf[Or]

  private def isValue(e: Expression): Boolean = e match {
    case c: Cast if c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty => isValue(c.child)
    case other => other.dataType != BooleanType && other.dataType != NullType
  }
}
