package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  And,
  Attribute,
  AttributeReference,
  Cast,
  Coalesce,
  EqualTo,
  Expression,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.Tagged
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ChangelogJoin, JoinKind, StreamJoinHint}
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.ChangelogBuilder
import org.apache.spark.sql.streamjoin.spark.DataFrameJoins

/**
 * Analyzer rule that builds the changelog join, if an input of a join is a changelog. Spark has put
 * a projection above the join by then, for `*` or USING, with the row kinds of the inputs. The row
 * kind of the result replaces them.
 *
 * Some of Spark's DataFrame operations resolve a join separately first, and expect one of Spark's
 * own: see [[TwoStepJoins.isExpected]]. The rule builds such a join in their second step, or
 * when the query has another node above it.
 */
private[streamjoin] object ResolveChangelogJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = pending(plan) {
    case j: Join if TwoStepJoins.isExpected(j) => j.mapChildren(made)
    case other                                 => made(other)
  }

  /**
   * The same rule before Spark resolves anything. A join that is already resolved then is in the
   * second step of its DataFrame operation.
   */
  object SecondStep extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = pending(plan) {
      case j: Join if TwoStepJoins.isByNames(j) || DataFrameJoins.castToJoin =>
        j.mapChildren(made)
      case other => made(other)
    }
  }

  private def pending(plan: LogicalPlan)(build: LogicalPlan => LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      if (plan.exists(isPending)) build(plan) else plan
    }

  /** The plan with all its changelog joins built. */
  def all(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer(made(plan))

  /**
   * Builds a semi or anti join that replaces a filter. The columns remain those of the left input.
   * Its change metadata columns now describe the changes of the result.
   */
  def filtered(join: Join): LogicalPlan = {
    // builds the joins below it first
    val built = all(join)
    val own = ChangelogMarks.kind(join.left.output)
    def ofResult(name: String) =
      built.output.filter(a => a.name == name && ChangelogMarks.describesChange(a)).last
    own.fold(built) { kind =>
      Project(
        join.left.output.flatMap { a =>
          val result =
            if (a.exprId == kind.exprId) Some(ofResult(ChangelogMarks.ChangeType))
            else if (!ChangelogMarks.isCommit(a)) None
            else
              Seq(ChangelogMarks.CommitVersion, ChangelogMarks.CommitTimestamp)
                .find(_.equalsIgnoreCase(a.name))
                .map(ofResult)
          result match {
            case Some(r) =>
              Some(Alias(r, a.name)(exprId = a.exprId, explicitMetadata = Some(r.metadata)))
            case None => built.output.find(_.exprId == a.exprId)
          }
        },
        built
      )
    }
  }

  /**
   * Builds a join by column names that waited in [[UnresolvedStreamJoin]], with all columns that it
   * adds.
   */
  def released(p: Project, join: Join): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val (byNames, equal) = withoutKinds(p, join)
      projected(byNames, made(equal), all = true)
    }

  /**
   * Refuses a reference above the join to the change metadata of an input. In a DataFrame this is
   * `orders["_change_type"]`.
   */
  object Check extends (LogicalPlan => Unit) {
    override def apply(plan: LogicalPlan): Unit =
      if (plan.exists(_.isInstanceOf[ChangelogJoin])) {
        for (p <- plan; a <- p.missingInput.find(ChangelogMarks.describesChange)) throw hidden(p, a)
      }
  }

  /** Whether a plan is a changelog join that is not built yet. */
  def isPending(plan: LogicalPlan): Boolean = plan match {
    case j: Join =>
      j.resolved && !StreamJoinHint.isHeld(j) && JoinKind.of(j).contains(JoinKind.Changelog)
    case _ => false
  }

  private def made(plan: LogicalPlan): LogicalPlan = plan match {
    case j: Join if isPending(j) =>
      ChangelogBuilder
        .build(j.mapChildren(made).asInstanceOf[Join])
        .fold(refusal => throw refusal.error, identity)
    case p @ Project(_, j: Join) if isPending(j) && isNatural(p, j) => released(p, j)
    case other =>
      other.mapChildren(made) match {
        case same if same.fastEquals(other) => other
        // a node that is not resolved yet will find the new columns
        case p: Project if p.child.resolved => projected(p, p.child, all = false)
        case p if p.resolved && p.missingInput.nonEmpty =>
          throw hidden(p, p.missingInput.head)
        case p => p
      }
  }

  /**
   * The projection above a built join. The row kind of the result replaces those of the inputs. It
   * also has hidden columns, which a query may reference by a qualified name after USING.
   */
  private def projected(p: Project, child: LogicalPlan, all: Boolean): Project = {
    def isGone(a: Attribute) = a.resolved && !child.outputSet.contains(a)
    val (gone, stay) = p.projectList.partition {
      case a: AttributeReference => isGone(a)
      case _                     => false
    }
    for (e <- stay; a <- e.references.find(isGone)) throw hidden(child, a)
    val changes = child.output.filter(ChangelogMarks.describesChange)
    val list = if (gone.isEmpty && !all) stay else stay ++ changes.filterNot(stay.contains)
    val made = Tagged(p)(Project(list, child))
    for (hidden <- p.getTagValue(Project.hiddenOutputTag)) {
      made.setTagValue(Project.hiddenOutputTag, hidden.filter(child.outputSet.contains))
    }
    made
  }

  // ---- NATURAL JOIN ----

  /** Whether Spark has joined by change metadata columns, because both inputs have them. */
  private def isNatural(p: Project, j: Join): Boolean =
    p.getTagValue(Project.hiddenOutputTag).exists(_.exists(ChangelogMarks.describesChange)) &&
      j.condition.exists(splitConjunctivePredicates(_).exists(isOfChanges))

  /** The same join by the row data columns only. */
  private def withoutKinds(p: Project, j: Join): (Project, Join) =
    if (!isNatural(p, j)) (p, j)
    else {
      val list = p.projectList.filterNot {
        case a: Attribute                => ChangelogMarks.describesChange(a)
        case Alias(Coalesce(columns), _) => columns.forall(isOfChange)
        case _                           => false
      }
      val byNames = Tagged(p)(p.copy(projectList = list))
      val rest = splitConjunctivePredicates(j.condition.get).filterNot(isOfChanges)
      (byNames, j.copy(condition = rest.reduceOption(And(_, _))))
    }

  private def isOfChanges(conjunct: Expression): Boolean = conjunct match {
    case EqualTo(a, b) => isOfChange(a) && isOfChange(b)
    case _             => false
  }

  private def isOfChange(e: Expression): Boolean = e match {
    case a: Attribute => ChangelogMarks.describesChange(a)
    case c: Cast      => isOfChange(c.child)
    case _            => false
  }

  private def hidden(plan: LogicalPlan, column: Attribute) =
    ChangelogErrors.unsupportedChangelog(
      plan.origin,
      s"the column ${column.name} describes a change of an input, and the changes of the result " +
        "differ from it",
      s"${ChangelogMarks.ChangeType} without an alias, in a query around the join: there it is " +
        "the row kind of the result"
    )
}
