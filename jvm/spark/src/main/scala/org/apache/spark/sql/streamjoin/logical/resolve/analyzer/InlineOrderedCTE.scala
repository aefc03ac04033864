package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.{ColumnNames, StreamJoinConf}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ImposeOrder,
  JoinNode,
  LastRows,
  RelationWindow
}
import org.apache.spark.sql.streamjoin.spark.SparkFactories

/**
 * Analyzer rule that inlines common table expressions with event times or with changes, so that a
 * join above can see them.
 */
object InlineOrderedCTE extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      lazy val hides = hidesStreams(plan)
      plan.transformUp {
        case w: WithCTE if w.isStreaming && hides && isInlinable(w) => inlined(w)
      }
    }

  private val inline = SparkFactories.inlineCTE()

  /**
   * Spark does not inline a nondeterministic expression that is referenced several times, because
   * its values would differ. A stream join cannot read such a reference, so it is refused.
   */
  private def inlined(w: WithCTE): LogicalPlan = inline(w) match {
    case rest: WithCTE if rest.exists(readsEventTime) && rest.exists(readsShared) =>
      throw shared(rest)
    case plan => plan
  }

  private def readsShared(plan: LogicalPlan): Boolean = plan match {
    case j: Join => j.children.forall(_.isStreaming) && j.exists(isReference)
    case p       => p.subqueries.exists(q => q.isStreaming && q.exists(isReference))
  }

  private def isReference(plan: LogicalPlan): Boolean = plan.isInstanceOf[CTERelationRef]

  private def shared(w: WithCTE): StreamJoinAnalysisException = {
    val definition = w.cteDefs.head
    val varying = definition.flatMap(_.expressions).flatMap(_.find { e =>
      !e.deterministic && e.children.forall(_.deterministic)
    }).headOption
    val name = definition.collectFirst { case a: SubqueryAlias => a.alias }
    StreamJoinErrors.analysis(
      "SHARED_EXPRESSION",
      varying.fold(definition.origin)(_.origin),
      "name" -> name.fold("WITH")(n => ColumnNames.written(Seq(n))),
      "expression" -> varying.fold("it")(ColumnNames.sql)
    )
  }

  private def readsEventTime(plan: LogicalPlan): Boolean = plan match {
    case _: ImposeOrder | _: RelationWindow | _: LastRows => true
    case j: JoinNode                                      => j.kind.byEventTime
    case _                                                => false
  }

  /**
   * Whether a plan has event times or changes that a common table expression may hide from a join.
   */
  private def hidesStreams(plan: LogicalPlan): Boolean = plan.exists {
    case p if readsEventTime(p) => true
    case p: Project             => p.resolved && ChangelogMarks.areChanges(p)
    case _: EventTimeWatermark  => conf.getConf(StreamJoinConf.ReplaceBuiltin)
    case _                      => false
  }

  /**
   * Whether all definitions are resolved. The main query may be unresolved: ROWTIME in it is
   * resolved from the event times of the definitions.
   */
  private def isInlinable(w: WithCTE): Boolean =
    w.cteDefs.forall(_.resolved) &&
      w.plan.collectWithSubqueries { case r: CTERelationRef => r }.forall(_.resolved)
}
