package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.ValidateSubqueryExpression
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.optimizer.{
  PullupCorrelatedPredicates,
  RewritePredicateSubquery
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{JoinNode, StreamJoinHint}
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.{ChangelogBuilder, PropagatedMarks}
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.BuiltinJoin
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

/**
 * Analyzer rule that turns `WHERE [NOT] EXISTS (...)` and `WHERE c [NOT] IN (...)` into LEFT SEMI
 * and LEFT ANTI joins. It applies to streams with a watermarked event-time column, to changelogs,
 * and to joins of Spark's that are to be replaced.
 *
 * Spark creates these joins in the optimizer. A stream join is required earlier, when the query is
 * checked and started. So this rule applies Spark's own rules to that one condition.
 */
object ResolveStreamSubqueries extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val made = plan.transformUpWithPruning(_.containsPattern(PLAN_EXPRESSION)) {
        case f @ Filter(condition, child) if f.resolved && isReady(child) =>
          val (ours, others) = conjuncts(condition).partition(isJoin(child, _))
          others.foreach(refuse)
          if (ours.isEmpty) f
          else {
            // Spark checks the remaining subqueries only, so these are checked here
            ours.flatMap(query).foreach { q =>
              if (q.plan.exists(mentionsRowBelow)) {
                throw StreamJoinErrors.unsupportedSubquery(
                  place(q),
                  "a join in the sub-query, or below that join, refers to the outer row",
                  "the reference in the WHERE above the join, or write the joins in FROM"
                )
              }
              PlaceWindows.Check(q.plan)
              ValidateSubqueryExpression(f, q)
            }
            // Spark looks for references of an outer query above joins only
            val (correlated, own) = others.partition(_.exists(_.isInstanceOf[OuterReference]))
            val hint = StreamJoinHint.on(child)
            val outer =
              filtered(own, hint.fold(child)(h => child.transform { case `h` => h.child }))
            filtered(
              correlated,
              ours.foldLeft(outer)((plan, one) =>
                joined(hint.fold(plan)(_.copy(child = plan)), one)
              )
            )
          }
        case p if p.resolved && isReady(p) =>
          p.expressions.foreach(refuse)
          p
      }
      if (made eq plan) plan else PropagatedMarks.of(made)
    }

  private def asExists(changes: Boolean): String =
    s"WHERE [NOT] EXISTS (SELECT 1 FROM d WHERE d.id = o.id${bound(changes)}) as a separate " +
      "condition, joined to others by AND"

  private def asJoin(changes: Boolean): String =
    s"the sub-query as a join: o [LEFT] JOIN d ON d.id = o.id${bound(changes)}"

  /** A further bound of the advice; changes need none. */
  private def bound(changes: Boolean): String =
    if (changes) "" else " AND d.time BETWEEN o.time AND o.time + INTERVAL '1' HOUR"

  /** The conjuncts, including implied ones: `NOT (a OR NOT b)` is `NOT a AND b`. */
  private def conjuncts(condition: Expression): Seq[Expression] = condition match {
    case And(a, b)     => conjuncts(a) ++ conjuncts(b)
    case Not(Or(a, b)) => conjuncts(Not(a)) ++ conjuncts(Not(b))
    case Not(Not(a))   => conjuncts(a)
    case _             => Seq(condition)
  }

  private def filtered(conditions: Seq[Expression], plan: LogicalPlan): LogicalPlan =
    conditions.reduceOption(And).fold(plan)(Filter(_, plan))

  /** Refuses a subquery that cannot become a join. */
  private def refuse(e: Expression): Unit = e.foreach {
    case s: SubqueryExpression
        if hasOrder(s.plan) ||
          s.plan.resolved && isReady(s.plan) && ChangelogMarks.changesWithin(s.plan) =>
      val changes = ChangelogMarks.changesWithin(s.plan)
      val (reason, instead) = s match {
        case x: Exists if !changes && !x.isCorrelated =>
          "it does not refer to the outer row" -> asExists(changes)
        case _: ScalarSubquery =>
          "a value of a stream is unknown before the end of the stream" -> asExists(changes)
        case _: LateralSubquery =>
          "LATERAL evaluates the sub-query for each row" -> asJoin(changes)
        case _ => "it is not a separate condition in WHERE" -> asExists(changes)
      }
      throw StreamJoinErrors.unsupportedSubquery(place(s), reason, instead)
    case _ =>
  }

  /**
   * Whether the columns of a plan are final: a changelog join has other columns when it is built.
   */
  private def isReady(plan: LogicalPlan): Boolean = plan.isStreaming && !plan.exists { p =>
    p.isInstanceOf[CTERelationRef] || ResolveChangelogJoin.isPending(p)
  }

  private def hasOrder(plan: LogicalPlan): Boolean =
    plan.resolved && isReady(plan) && TimeColumns.of(plan).imposed

  private def hasTimes(plan: LogicalPlan): Boolean =
    hasOrder(plan) || plan.exists(_.isInstanceOf[EventTimeWatermark])

  private def hasOrder(outer: LogicalPlan, query: SubqueryExpression): Boolean =
    hasOrder(query.plan) || TimeColumns.of(outer).imposed

  private def isJoin(outer: LogicalPlan, conjunct: Expression): Boolean =
    query(conjunct).exists { q =>
      q.plan.resolved && isReady(q.plan) &&
      (hasChanges(outer, q) || mentions(q) && (hasOrder(outer, q) || BuiltinJoin.isSought))
    }

  /** Whether a subquery references the outer row, which bounds its times. Changes need no bound. */
  private def mentions(query: SubqueryExpression): Boolean = query match {
    case e: Exists => e.isCorrelated
    case _         => true
  }

  private def hasChanges(outer: LogicalPlan, query: SubqueryExpression): Boolean =
    ChangelogMarks.areChanges(outer) || ChangelogMarks.changesWithin(query.plan)

  private def query(conjunct: Expression): Option[SubqueryExpression] = conjunct match {
    case e: Exists             => Some(e)
    case Not(e: Exists)        => Some(e)
    case InSubquery(_, q)      => Some(q)
    case Not(InSubquery(_, q)) => Some(q)
    case _                     => None
  }

  /**
   * The position of a subquery in the SQL text. For an EXISTS, Spark records positions of its
   * content only.
   */
  private def place(s: SubqueryExpression): Origin = s match {
    case e: Exists if e.plan.origin.startIndex.nonEmpty => e.plan.origin
    case _                                              => s.origin
  }

  private def joined(outer: LogicalPlan, conjunct: Expression): LogicalPlan = {
    val origin = query(conjunct).fold(conjunct.origin)(place)
    val changes = query(conjunct).exists(hasChanges(outer, _))
    def refused(reason: String) =
      StreamJoinErrors.unsupportedSubquery(origin, reason, asExists(changes))
    conjunct match {
      case Not(InSubquery(values, q)) if (values ++ q.plan.output).exists(_.nullable) =>
        throw refused(
          "NOT IN is true for no row after a comparison with NULL, and these columns may be " +
            "NULL. NOT EXISTS does not have this problem"
        )
      case _ =>
    }
    // Spark's rules rewrite the whole plan that they get
    val stub = LocalRelation(outer.output)
    val filter = CurrentOrigin.withOrigin(origin)(Filter(plain(conjunct), stub))
    val correlated = PullupCorrelatedPredicates(filter).transformExpressions {
      // Spark would turn an uncorrelated one into a scalar value, which an endless stream does not
      // have
      case e: Exists if !e.isCorrelated =>
        e.copy(outerAttrs = stub.output.take(1), joinCond = Seq(Literal.TrueLiteral))
    }
    if (correlated.expressions.flatMap(query).exists(_.plan.exists(_.isInstanceOf[DomainJoin]))) {
      throw refused("an aggregate or a limit in it depends on the outer row")
    }
    val made = RewritePredicateSubquery(correlated).transformUp {
      case r: LocalRelation if r eq stub => outer
      case j: Join if (j.left eq outer) && changes =>
        ResolveChangelogJoin.filtered(tidied(j))
      case j: Join if j.left eq outer =>
        // a subquery emits only the columns that the condition references
        if (Rowtime.columns(j.right).isEmpty && query(conjunct).exists(q => hasTimes(q.plan))) {
          throw refused(
            "it does not bound the distance between its event time and the event time of the " +
              "outer row"
          )
        }
        val join = tidied(j)
        // Spark has no such join of its own that could remain
        if (!query(conjunct).exists(hasOrder(outer, _))) {
          BuiltinJoin
            .replaced(join.copy(left = ours(outer)))
            .left.foreach(refusal => throw refusal.error)
        }
        join
    }
    PropagatedMarks.of(if (changes) told(made) else made)
  }

  /** Adds the row kind of the result. Even an append-only outer row may be deleted from it. */
  private def told(plan: LogicalPlan): LogicalPlan = plan match {
    case Project(list, child) if ChangelogMarks.kind(plan.output).isEmpty =>
      val changes = child.output.filter(ChangelogMarks.describesChange)
      Project(list ++ changes.filterNot(plan.outputSet.contains), child)
    case other => other
  }

  /**
   * Whether Spark would have to push the reference to the outer row through a join of this project.
   */
  private def mentionsRowBelow(plan: LogicalPlan): Boolean = plan match {
    case _: JoinNode =>
      plan.exists(_.expressions.exists(_.exists(_.isInstanceOf[OuterReference])))
    case _ => false
  }

  /**
   * The outer rows with this project's joins, whose properties are better known than those of
   * Spark's joins.
   */
  private def ours(outer: LogicalPlan): LogicalPlan =
    ResolveStreamJoin(Project(outer.output, outer))

  /**
   * Prepares a subquery for Spark's rules: replaces BETWEEN, which hides its comparison, and adds
   * the change metadata columns.
   */
  private def plain(conjunct: Expression): Expression = conjunct.transform {
    case s: SubqueryExpression =>
      val plan = repeated(if (s.isInstanceOf[Exists]) unlimited(s.plan) else s.plan)
      s.withNewPlan(ChangelogBuilder.withMarks(plan).transformAllExpressions { case b: Between =>
        PlainCondition.of(b)
      })
  }

  /** Removes a limit, since EXISTS does not depend on the number of rows. */
  private def unlimited(plan: LogicalPlan): LogicalPlan = plan match {
    case GlobalLimit(IntegerLiteral(n), LocalLimit(_, child)) if n > 0 => child
    case other                                                         => other
  }

  /**
   * Removes DISTINCT of changes, since neither EXISTS nor IN depends on duplicates. DISTINCT of an
   * append-only stream remains: it is an aggregation of Spark's.
   */
  private def repeated(plan: LogicalPlan): LogicalPlan = plan match {
    case Distinct(child) if ChangelogMarks.changesWithin(child) => child
    case other                                                  => other
  }

  /** Restores what Spark's rules have changed: column names and the condition. */
  private def tidied(join: Join): Join =
    named(join.copy(condition = join.condition.map(withoutNulls)))

  /**
   * Restores the column names of a self-join. Spark puts expression IDs into the names, and these
   * differ at each start. A checkpoint identifies columns by name.
   */
  private def named(join: Join): Join = {
    val names = join.right
      .collect { case p => p.expressions }
      .flatten
      .flatMap(_.collect {
        case a @ Alias(c: Attribute, name) if isNumbered(name, c) => a.exprId -> c.name
      })
      .toMap
    def renamed(e: Expression): Expression = e.transform {
      case a @ Alias(c, _) if names.contains(a.exprId) =>
        Alias(c, names(a.exprId))(a.exprId, a.qualifier, a.explicitMetadata)
      case a: Attribute if names.contains(a.exprId) => a.withName(names(a.exprId))
    }
    if (names.isEmpty) join
    else
      join.copy(
        right = join.right.transformUp { case p => p.mapExpressions(renamed) },
        condition = join.condition.map(renamed)
      )
  }

  /** Whether a name consists of a column's name, its ID and its watermark. */
  private def isNumbered(name: String, column: Attribute): Boolean =
    name.startsWith(s"${column.name}#") && name.drop(column.name.length + 1).matches("\\d+.*")

  /** Removes the NULL test of Spark's NOT IN if the condition cannot be NULL. */
  private def withoutNulls(condition: Expression): Expression = condition.transform {
    case Or(c, IsNull(same)) if c.fastEquals(same) && !c.nullable => c
  }
}
