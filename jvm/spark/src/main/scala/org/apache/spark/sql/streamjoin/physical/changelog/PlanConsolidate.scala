package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.logical.plan.analysis.AliasedColumn
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ChangelogJoin, ToUpserts}
import org.apache.spark.sql.streamjoin.physical.consolidate.{Consolidate, ConsolidateExec}

import io.streamjoin.model.Side
import io.streamjoin.placement.Routing

/**
 * Planner of the operators right above a changelog join: filters and projections. Below both it
 * adds [[ConsolidateExec]], if the changes are the result of the query and rows of different join
 * keys may have equal output columns.
 *
 * {{{
 *   a join, sums or toUpserts are above        not consolidated here: they do it themselves
 *   the join emits no deletes                  not consolidated
 *   the output has the columns of the equality not consolidated: rows of different join keys differ
 *     and others only in expressions           consolidated within each join key
 *   else                                       consolidated, by the output key or all columns
 * }}}
 */
private[physical] object PlanConsolidate {

  /**
   * @param list the output columns
   * @param filters conditions above the join that the join does not evaluate, see
   *   [[PlanChangelogJoin.filter]]
   */
  def apply(
      j: ChangelogJoin,
      joined: ChangelogJoinExec,
      list: Seq[NamedExpression],
      filters: Seq[Expression]
  ): SparkPlan = {
    val required = new RequiredColumns(j, list, filters)
    val reason =
      if (j.isResult && AppendOnly.takesBack(j)) mayBeEqual(j, joined.spec, required) else None
    val kind = joined.output.find(_.exprId == j.changeKind.exprId)
    kind.zip(reason) match {
      case Some((k, (why, within))) =>
        val made = required.computed.map(_.exprId).toSet
        projected(
          consolidated(j, joined, required, k, why, within),
          list.map(e => if (made(e.exprId)) e.toAttribute else e),
          filters
        )
      case None => projected(joined, list, filters)
    }
  }

  /**
   * The reason why different rows may have equal output columns, and the join key within which such
   * rows are compared; empty: rows of all join keys are compared.
   */
  private def mayBeEqual(
      j: ChangelogJoin,
      spec: ChangelogSpec,
      required: RequiredColumns
  ): Option[(String, Seq[Expression])] = {
    def names(some: Seq[Expression]) =
      some.map(e => ColumnNames.sql(AliasedColumn.restored(e, j.aliased))).mkString(", ")
    val hidden = hiddenKeys(spec, required)
    if (hidden.nonEmpty) {
      Some(
        s"rows of different join keys may be equal in the output, which lacks ${names(hidden)}" ->
          Nil
      )
    } else {
      Option.when(required.lossy.nonEmpty) {
        val computed = required.lossy.flatMap(_.references).distinct.filterNot(required.contains)
        s"rows may be equal in the columns computed from ${names(computed)}" -> ordered(
          spec,
          required
        )
      }
    }
  }

  /** The join key by which the output is partitioned and ordered, if the output has it. */
  private def ordered(spec: ChangelogSpec, required: RequiredColumns): Seq[Expression] =
    spec.on.joinType.always.map(spec.keys).find(_.forall(required.contains)).getOrElse(Nil)

  private def projected(
      plan: SparkPlan,
      list: Seq[NamedExpression],
      filters: Seq[Expression] = Nil
  ): SparkPlan =
    filters.reduceOption(And(_, _)).fold(plan)(FilterExec(_, plan)) match {
      case some if list == some.output => some
      case some                        => ProjectExec(list, some)
    }

  private def consolidated(
      j: ChangelogJoin,
      joined: ChangelogJoinExec,
      required: RequiredColumns,
      kind: Attribute,
      reason: String,
      within: Seq[Expression]
  ): ConsolidateExec = {
    val columns =
      if (required.computed.isEmpty) joined.output
      else required.plain ++ joined.output.filter(j.changes.contains) ++ required.computed
    val key = if (joined.spec.output.key.forall(required.contains)) joined.spec.output.key else Nil
    val identity = required.plain ++ required.computed.map(_.toAttribute)
    val certain = key.isEmpty || !deletesByKey(j)
    val by = Consolidate(key, identity, kind, within, Consolidate.All, certain)
    ConsolidateExec(by, reason, projected(joined, columns))
  }

  /**
   * Plans `toUpserts`. Several rows may have a NULL key. Any of them is the latest, but a batch
   * that runs again chooses the same one.
   */
  def latest(u: ToUpserts, changes: SparkPlan): SparkPlan = {
    val identity = changes.output
      .filterNot(a => a.exprId == u.kind.exprId || ChangelogMarks.isCommit(a))
    val certain = !u.child.exists { case j: ChangelogJoin => deletesByKey(j); case _ => false }
    val by = Consolidate(u.key, identity, u.kind, Nil, Consolidate.Latest, certain)
    ConsolidateExec(by, "toUpserts", changes)
  }

  /** Whether the join may delete the result of a key whose row it does not know. */
  private def deletesByKey(j: ChangelogJoin): Boolean =
    Side.both.exists(j.ttl(_).exists(!_.retracts))

  /**
   * The expressions that decide on the partition of an output row and are not part of its identity.
   */
  private def hiddenKeys(spec: ChangelogSpec, required: RequiredColumns): Seq[Expression] = {
    def hidden(side: Side) = spec.keys(side).filterNot(required.identifies)
    spec.on.joinType.always match {
      case _ if spec.on.equiKeys.isEmpty =>
        spec.routing match {
          case Routing.Broadcast(unicast) => spec.spread(unicast).filterNot(required.identifies)
          case _                          => Nil
        }
      case Nil       => Side.both.flatMap(hidden)
      case Seq(side) => hidden(side)
      // both sides of an equality are equal, so one of them is enough
      case _ => spec.on.equiKeys.filterNot(k =>
          required.identifies(k.left) || required.identifies(k.right)
        ).map(_.left)
    }
  }
}
