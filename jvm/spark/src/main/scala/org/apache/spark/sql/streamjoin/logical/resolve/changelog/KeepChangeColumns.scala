package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogMarks
import org.apache.spark.sql.types.MetadataBuilder
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.ChangeKind

/**
 * Analyzer rule that preserves change metadata in `df.na.fill`, `df.na.replace`, `df.na.drop`, and
 * in a cast of all columns.
 *
 * Without a list of columns, these functions apply to all columns of a type, including the row kind
 * and the commit columns. There they have no effect, because these columns contain neither NULL nor
 * a replaced value. So the rule restores the original columns. For a nullable commit column, it
 * restores the mark only.
 */
private[streamjoin] object KeepChangeColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case p @ Project(list, child) if p.resolved && list.exists(kept(_).nonEmpty) && tells(child) =>
      val made = p.copy(projectList = list.map(e => kept(e).getOrElse(e)))
      made.copyTagsFrom(p)
      made
    case f @ Filter(condition, child)
        if f.resolved && condition.exists(asksOfChanges) && tells(child) =>
      f.copy(condition = condition.transform {
        case e: AtLeastNNonNulls if asksOfChanges(e) => ofRow(e)
      })
  }

  private def tells(child: LogicalPlan): Boolean = ChangelogMarks.areChanges(child)

  /**
   * The replacement of an expression that does not change a column with change metadata; none: the
   * expression remains.
   */
  private def kept(e: NamedExpression): Option[NamedExpression] = e match {
    case a @ Alias(child, name) if !ChangelogMarks.isMarked(a.toAttribute) =>
      same(child).map(column => Alias(column, name)(a.exprId, a.qualifier, Some(column.metadata)))
        .orElse(ofCommit(child).filter(_.name == name).map { _ =>
          val commit = new MetadataBuilder().putLong(ChangelogMarks.Commit, 1L).build()
          Alias(child, name)(a.exprId, a.qualifier, Some(commit))
        })
    case _ => None
  }

  /**
   * The commit column that an expression reads. The column of a feed may be nullable. An expression
   * on this column alone is change metadata, too.
   */
  private def ofCommit(e: Expression): Option[Attribute] = e match {
    case _: Attribute => None
    case _ => e.references.toSeq match {
        case Seq(a) if ChangelogMarks.isCommit(a) => Some(a)
        case _                                    => None
      }
  }

  private def same(e: Expression): Option[Attribute] = e match {
    case Coalesce(Seq(a: Attribute, _*)) if isOfChange(a) && !a.nullable              => Some(a)
    case c @ Cast(a: Attribute, _, _, _) if isOfChange(a) && c.dataType == a.dataType => Some(a)
    case CaseWhen(branches, Some(a: Attribute))
        if isKind(a) && branches.forall(b => isOther(b._1, a)) => Some(a)
    case _ => None
  }

  /** Whether a condition compares the row kind with a word that is no row kind. */
  private def isOther(condition: Expression, kind: Attribute): Boolean = condition match {
    case EqualTo(a: Attribute, word) if a.exprId == kind.exprId && word.foldable =>
      word.eval() match {
        case w: UTF8String => !ChangeKind.all.exists(_.name == w.toString)
        case null          => true
        case _             => false
      }
    case _ => false
  }

  private def asksOfChanges(e: Expression): Boolean = e match {
    case AtLeastNNonNulls(_, columns) => columns.exists(isThere)
    case _                            => false
  }

  private def ofRow(e: AtLeastNNonNulls): Expression = {
    val (there, ofRow) = e.children.partition(isThere)
    val most = e.n - there.length
    if (most <= 0) Literal.TrueLiteral else AtLeastNNonNulls(most, ofRow)
  }

  private def isThere(e: Expression): Boolean = e match {
    case a: Attribute => isOfChange(a) && !a.nullable
    case _            => false
  }

  private def isKind(a: Attribute): Boolean = a.metadata.contains(ChangelogMarks.Kind)

  private def isOfChange(a: Attribute): Boolean = isKind(a) || ChangelogMarks.isCommit(a)
}
