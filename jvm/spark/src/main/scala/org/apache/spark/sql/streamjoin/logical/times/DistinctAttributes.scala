package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  NamedExpression,
  TaggingExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project, Union}
import org.apache.spark.sql.types.MetadataBuilder

import io.streamjoin.model.BySide

/**
 * Keeps the columns of a join's inputs distinct if both inputs read the same source.
 *
 * Spark distinguishes them by renaming those of one side (`id#1 AS id#7`). Its optimizer removes
 * such aliases as redundant, except below its own join. It never removes an alias that changes the
 * metadata of a column. Therefore these aliases get a mark in the metadata, which the output of the
 * join removes again. In a chain of aliases (`id#1 AS key#5`, `key#5 AS id#7`), each one gets a
 * mark. So does an alias of an expression, since the optimizer may simplify `struct(id#1 AS id).id`
 * to `id#1`.
 *
 * A union has the columns of its first branch. If only another branch has rows in a batch, the
 * optimizer replaces the union by this branch, and would use its columns (`id#1`) above. So each of
 * its columns that the other input may have is a [[ColumnOfBranch]].
 */
private[streamjoin] object DistinctAttributes {

  private val Mark = "streamjoin.renamed"

  def keep(inputs: BySide[LogicalPlan]): BySide[LogicalPlan] =
    BySide.of(side => keep(inputs(side), inputs(side.other)))

  private def keep(plan: LogicalPlan, other: LogicalPlan): LogicalPlan = {
    val taken = AttributeSet(other.collect { case p => p.output }.flatten)
    def named(list: Seq[NamedExpression], child: LogicalPlan) = list.map {
      case a: Alias if a.references.exists(c => taken.contains(c) || isMarked(c, child)) => mark(a)
      case e                                                                             => e
    }
    def marked(p: LogicalPlan): LogicalPlan = p.mapChildren(marked) match {
      case p: Project   => p.copy(projectList = named(p.projectList, p.child))
      case a: Aggregate => a.copy(aggregateExpressions = named(a.aggregateExpressions, a.child))
      case u: Union =>
        val (first, others) = (u.children.head, u.children.tail)
        u.withNewChildren(first +: others.map(b => if (mayHaveTaken(b)) renamed(b) else b))
      case q => q
    }
    def mayHaveTaken(p: LogicalPlan) = p.exists(_.output.exists(taken.contains))
    if (mayHaveTaken(plan)) marked(plan) else plan
  }

  private def renamed(branch: LogicalPlan): LogicalPlan = Project(
    branch.output.map { a =>
      Alias(ColumnOfBranch(a), a.name)(explicitMetadata = Some(a.metadata))
    },
    branch
  )

  private def isMarked(column: Attribute, plan: LogicalPlan): Boolean =
    plan.output.exists(o => o.exprId == column.exprId && o.metadata.contains(Mark))

  private def mark(a: Alias): Alias = {
    val metadata = new MetadataBuilder().withMetadata(a.metadata).putBoolean(Mark, true).build()
    Alias(a.child, a.name)(a.exprId, a.qualifier, Some(metadata), a.nonInheritableMetadataKeys)
  }

  /** The column with its original metadata. */
  def unmarked(a: Attribute): Attribute =
    if (a.metadata.contains(Mark)) {
      a.withMetadata(new MetadataBuilder().withMetadata(a.metadata).remove(Mark).build())
    } else a
}

/**
 * A column of a branch of a union, with an ID of its own. The optimizer keeps its alias, because an
 * alias of an expression is not redundant.
 */
private[streamjoin] final case class ColumnOfBranch(child: Expression) extends TaggingExpression {

  override def sql: String = child.sql

  override protected def withNewChildInternal(newChild: Expression): ColumnOfBranch =
    copy(child = newChild)
}
