package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.analysis.{AnalysisContext, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, SQLQueryContext}

/**
 * Resolves `SELECT STREAM id`, which Spark parses as a column STREAM with the alias `id`. If the
 * relation has no column STREAM, it is the column `id`.
 *
 * Source: SQLstream s-Server, "Streaming Joins" (`SELECT STREAM`).
 */
object ResolveSelectStream extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case p @ Project(Element(column) +: others, child) if hasNone(child) =>
      p.copy(projectList = column +: others)
    case a: Aggregate if hasNone(a.child) =>
      a.aggregateExpressions match {
        case Element(column) +: others => a.copy(aggregateExpressions = column +: others)
        case _                         => a
      }
  }

  /** Whether neither this query nor an outer one has a column STREAM. */
  private def hasNone(child: LogicalPlan): Boolean =
    child.resolved && child.resolve(Seq(Word), conf.resolver).isEmpty &&
      AnalysisContext.get.outerPlan.forall { outer =>
        outer.childrenResolved && outer.resolveChildren(Seq(Word), conf.resolver).isEmpty
      }

  private val Word = "STREAM"

  /** Matches the first element of a list, if written `STREAM id`, and returns the column `id`. */
  private object Element {
    def unapply(e: Expression): Option[NamedExpression] = e match {
      case Alias(u @ UnresolvedAttribute(Seq(word)), name)
          if word.equalsIgnoreCase(Word) && isTwoWords(e) =>
        Some(CurrentOrigin.withOrigin(u.origin)(UnresolvedAttribute(Seq(name))))
      case _ => None
    }
  }

  private def isTwoWords(e: Expression): Boolean = e.origin.context match {
    case c: SQLQueryContext if c.isValid =>
      val words = SqlToken.all(c.fragment)
      words.length == 2 && words.head.kind == Word
    case _ => false
  }
}
