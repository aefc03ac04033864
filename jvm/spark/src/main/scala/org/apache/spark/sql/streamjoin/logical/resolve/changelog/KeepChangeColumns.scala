package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogMarks
import org.apache.spark.sql.types.MetadataBuilder
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.ChangeKind

/**
 * `df.na.fill`, `df.na.replace` and `df.na.drop` go by all columns of a type if nobody says by which: also by those that tell
 * of changes; so does a cast of all of them. These are never NULL, and have none of the words or numbers that are replaced in columns of rows; so such
 * columns stay what they are.
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

  /** What to write for an expression that leaves a column as it is; none: it stands as it should. */
  private def kept(e: NamedExpression): Option[NamedExpression] = e match {
    case a @ Alias(child, name) if !ChangelogMarks.isMarked(a.toAttribute) =>
      same(child).map(column => Alias(column, name)(a.exprId, a.qualifier, Some(column.metadata)))
        .orElse(ofCommit(child).filter(_.name == name).map { _ =>
          val commit = new MetadataBuilder().putLong(ChangelogMarks.Commit, 1L).build()
          Alias(child, name)(a.exprId, a.qualifier, Some(commit))
        })
    case _ => None
  }

  /** The commit column of a feed, which may have NULL in it: what is made of it alone is no part of a row, either. */
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

  /** Whether a condition asks for a word that no kind of change has. */
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
