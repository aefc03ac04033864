package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.ValidateSubqueryExpression
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogMarks, JoinNode, StreamJoinHint}
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.{ChangelogBuilder, RenewedMarks}
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.BuiltinJoin
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns
import org.apache.spark.sql.streamjoin.spark.{PullupCorrelatedPredicates, RewritePredicateSubquery}

/**
 * `WHERE [NOT] EXISTS (...)` and `WHERE c [NOT] IN (...)` over streams with an imposed order or of rows
 * that change, or where Spark's joins are to be replaced, as the LEFT SEMI and LEFT ANTI joins that they are.
 *
 * Spark makes joins of them when it optimizes; a stream join must be there when the query is checked
 * and started. What is done is Spark's own doing, on the one condition alone.
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
            // Spark checks what is left of sub-queries; none of these will be
            ours.flatMap(query).foreach { q =>
              if (q.plan.exists(mentionsRowBelow)) {
                throw StreamJoinErrors.unsupportedSubquery(
                  place(q),
                  "a join in it, or what is below that, mentions the row that it is asked for",
                  "that in the WHERE above the join, or the joins in FROM"
                )
              }
              PlaceWindows.check(q.plan)
              ValidateSubqueryExpression(f, q)
            }
            // a query around this one only looks for what mentions it above joins
            val (correlated, own) = others.partition(_.exists(_.isInstanceOf[OuterReference]))
            val hint = StreamJoinHint.of(child)
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
      if (made eq plan) plan else RenewedMarks.of(made)
    }

  private val AsExists =
    "WHERE [NOT] EXISTS (SELECT 1 FROM d WHERE d.id = o.id AND d.time BETWEEN o.time AND o.time + " +
      "INTERVAL '1' HOUR) as a condition of its own, joined to others by AND"

  private val AsExistsOfChanges =
    "WHERE [NOT] EXISTS (SELECT 1 FROM d WHERE d.id = o.id) as a condition of its own, joined to others by AND"

  private val AsJoin =
    "it as a join: o [LEFT] JOIN d ON d.id = o.id AND d.time BETWEEN o.time AND " +
      "o.time + INTERVAL '1' HOUR"

  private val AsJoinOfChanges = "it as a join: o [LEFT] JOIN d ON d.id = o.id"

  /** AND-ed parts, and those that a NOT makes so: `NOT (a OR NOT b)` is `NOT a AND b`. */
  private def conjuncts(condition: Expression): Seq[Expression] = condition match {
    case And(a, b)     => conjuncts(a) ++ conjuncts(b)
    case Not(Or(a, b)) => conjuncts(Not(a)) ++ conjuncts(Not(b))
    case Not(Not(a))   => conjuncts(a)
    case _             => Seq(condition)
  }

  private def filtered(conditions: Seq[Expression], plan: LogicalPlan): LogicalPlan =
    conditions.reduceOption(And).fold(plan)(Filter(_, plan))

  /** Refuses what would not become a join. */
  private def refuse(e: Expression): Unit = e.foreach {
    case s: SubqueryExpression
        if hasOrder(s.plan) ||
          s.plan.resolved && isReady(s.plan) && ChangelogMarks.changesWithin(s.plan) =>
      val changes = ChangelogMarks.changesWithin(s.plan)
      val asExists = if (changes) AsExistsOfChanges else AsExists
      val (reason, instead) = s match {
        case x: Exists if !changes && !x.isCorrelated =>
          "it does not mention the row it is asked for" -> asExists
        case _: ScalarSubquery => "a value of a stream is not known before its end" -> asExists
        case _: LateralSubquery =>
          "LATERAL asks it anew for each row" -> (if (changes) AsJoinOfChanges else AsJoin)
        case _ => "it is not a condition of WHERE of its own" -> asExists
      }
      throw StreamJoinErrors.unsupportedSubquery(place(s), reason, instead)
    case _ =>
  }

  /** A join of changelogs has columns of its own once it is ours, and is that first. */
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

  /** Whether the row that is asked for is mentioned, by which times are bounded; changes need no bound. */
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

  /** Where a sub-query stands: Spark notes it of an IN, and of an EXISTS only what is inside. */
  private def place(s: SubqueryExpression): Origin = s match {
    case e: Exists if e.plan.origin.startIndex.nonEmpty => e.plan.origin
    case _                                              => s.origin
  }

  private def joined(outer: LogicalPlan, conjunct: Expression): LogicalPlan = {
    val origin = query(conjunct).fold(conjunct.origin)(place)
    val changes = query(conjunct).exists(hasChanges(outer, _))
    def refused(reason: String) = StreamJoinErrors.unsupportedSubquery(
      origin,
      reason,
      if (changes) AsExistsOfChanges else AsExists
    )
    conjunct match {
      case Not(InSubquery(values, q)) if (values ++ q.plan.output).exists(_.nullable) =>
        throw refused(
          "NOT IN is true of no row as soon as one NULL is compared, and these columns may be NULL; " +
            "NOT EXISTS is what can be answered in time"
        )
      case _ =>
    }
    // the rules look at the whole plan they are given
    val stub = LocalRelation(outer.output)
    val filter = CurrentOrigin.withOrigin(origin)(Filter(plain(conjunct), stub))
    val correlated = PullupCorrelatedPredicates(filter).transformExpressions {
      // Spark makes a value of one that does not mention the row, and that has no end here
      case e: Exists if !e.isCorrelated =>
        e.copy(outerAttrs = stub.output.take(1), joinCond = Seq(Literal.TrueLiteral))
    }
    if (correlated.expressions.flatMap(query).exists(_.plan.exists(_.isInstanceOf[DomainJoin]))) {
      throw refused("an aggregate or a limit in it depends on the row it is asked for")
    }
    val made = RewritePredicateSubquery(correlated).transformUp {
      case r: LocalRelation if r eq stub => outer
      case j: Join if (j.left eq outer) && changes =>
        ResolveChangelogJoin.filtered(tidied(j))
      case j: Join if j.left eq outer =>
        // only what the condition mentions comes out of a sub-query
        if (Rowtime.columns(j.right).isEmpty && query(conjunct).exists(q => hasTimes(q.plan))) {
          throw refused(
            "nothing in it says how far its event time is from that of the row asked for"
          )
        }
        val join = tidied(j)
        // Spark has no such join of its own that it could stay
        if (!query(conjunct).exists(hasOrder(outer, _))) {
          BuiltinJoin
            .replaced(join.copy(left = ours(outer)))
            .left.foreach(refusal => throw refusal.error)
        }
        join
    }
    RenewedMarks.of(if (changes) told(made) else made)
  }

  /** Of a row that only comes, too, the result says whether it comes or goes. */
  private def told(plan: LogicalPlan): LogicalPlan = plan match {
    case Project(list, child) if ChangelogMarks.kind(plan.output).isEmpty =>
      val changes =
        child.output.filter(a => ChangelogMarks.isCommit(a) || ChangelogMarks.kind(Seq(a)).nonEmpty)
      Project(list ++ changes.filterNot(plan.outputSet.contains), child)
    case other => other
  }

  /** Whether Spark would have to put the row that is asked for through a join of ours. */
  private def mentionsRowBelow(plan: LogicalPlan): Boolean = plan match {
    case _: JoinNode =>
      plan.exists(_.expressions.exists(_.exists(_.isInstanceOf[OuterReference])))
    case _ => false
  }

  /** The row that is asked for as it will be: of joins of Spark's less is known than of those in their place. */
  private def ours(outer: LogicalPlan): LogicalPlan =
    ResolveStreamJoin(Project(outer.output, outer))

  /**
   * BETWEEN keeps what it was written with out of sight of the rules that follow. A sub-query of changes
   * emits also what tells of them.
   */
  private def plain(conjunct: Expression): Expression = conjunct.transform {
    case s: SubqueryExpression =>
      val plan = repeated(if (s.isInstanceOf[Exists]) unlimited(s.plan) else s.plan)
      s.withNewPlan(ChangelogBuilder.withMarks(plan).transformAllExpressions { case b: Between =>
        PlainCondition.of(b)
      })
  }

  /** Whether there is a row does not depend on how many are looked at. */
  private def unlimited(plan: LogicalPlan): LogicalPlan = plan match {
    case GlobalLimit(IntegerLiteral(n), LocalLimit(_, child)) if n > 0 => child
    case other                                                         => other
  }

  /** Nor does it depend on how often a row is there. DISTINCT of rows that only come is a group of each. */
  private def repeated(plan: LogicalPlan): LogicalPlan = plan match {
    case Distinct(child) if ChangelogMarks.changesWithin(child) => child
    case other                                                  => other
  }

  /** What Spark has made of a sub-query, as a person would have written it. */
  private def tidied(join: Join): Join =
    named(join.copy(condition = join.condition.map(withoutNulls)))

  /**
   * Where both sides read one stream, Spark tells its columns apart by ids that it puts into names. A
   * checkpoint knows columns by name, and ids are others at each start.
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

  /** Whether it is the text of the column: its name, its id and what is known of its watermark. */
  private def isNumbered(name: String, column: Attribute): Boolean =
    name.startsWith(s"${column.name}#") && name.drop(column.name.length + 1).matches("\\d+.*")

  /** Spark's NOT IN asks for NULL also where none can be. */
  private def withoutNulls(condition: Expression): Expression = condition.transform {
    case Or(c, IsNull(same)) if c.fastEquals(same) && !c.nullable => c
  }
}
