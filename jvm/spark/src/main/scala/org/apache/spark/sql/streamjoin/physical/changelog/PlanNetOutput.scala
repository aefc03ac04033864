package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.logical.plan.{AliasedColumn, ChangelogJoin}

import io.streamjoin.model.{Routing, Side}

/**
 * Plans what stands right above a changelog join: filters and columns, and below both [[NetOutputExec]] where the
 * changes are those of the query and rows of different join keys may be equal in what comes out.
 *
 * {{{
 *   a join, sums or toUpserts are above        not netted here: they net by themselves
 *   the join takes nothing back                not netted
 *   the columns of its equality come out       not netted: rows of different join keys differ in them
 *     but others only what they are computed to    netted within each join key
 *   else                                       netted, by the output key or all columns
 * }}}
 */
private[physical] object PlanNetOutput {

  /**
   * @param list what comes out
   * @param filters what of a filter above the join is not the join's, see [[PlanChangelogJoin.filter]]
   */
  def apply(
      j: ChangelogJoin,
      joined: ChangelogJoinExec,
      list: Seq[NamedExpression],
      filters: Seq[Expression]
  ): SparkPlan = {
    val asked = new AskedColumns(j, list, filters)
    val reason =
      if (j.isResult && AppendOnly.takesBack(j)) mayBeEqual(j, joined.spec, asked) else None
    val kind = joined.output.find(_.exprId == j.changes.head.exprId)
    kind.zip(reason) match {
      case Some((k, (why, within))) =>
        val made = asked.computed.map(_.exprId).toSet
        shown(
          netted(j, joined, asked, k, why, within),
          list.map(e => if (made(e.exprId)) e.toAttribute else e),
          filters
        )
      case None => shown(joined, list, filters)
    }
  }

  /** Why rows that differ may be equal in what comes out; and the join key, where they must have the same one. */
  private def mayBeEqual(
      j: ChangelogJoin,
      spec: ChangelogSpec,
      asked: AskedColumns
  ): Option[(String, Seq[Expression])] = {
    def names(some: Seq[Expression]) =
      some.map(e => ColumnNames.sql(AliasedColumn.restored(e, j.aliased))).mkString(", ")
    val hidden = hiddenKeys(spec, asked)
    if (hidden.nonEmpty) {
      Some(
        s"rows of different join keys may be equal in what comes out, for ${names(hidden)} does not" ->
          Nil
      )
    } else {
      Option.when(asked.lossy.nonEmpty) {
        val of = asked.lossy.flatMap(_.references).distinct.filterNot(asked.show)
        s"rows may be equal in what is computed of ${names(of)}" -> ordered(spec, asked)
      }
    }
  }

  /** The join key by which the output is partitioned and ordered, if it comes out. */
  private def ordered(spec: ChangelogSpec, asked: AskedColumns): Seq[Expression] =
    spec.joinType.always.map(spec.keys).find(_.forall(asked.show)).getOrElse(Nil)

  private def shown(
      plan: SparkPlan,
      list: Seq[NamedExpression],
      filters: Seq[Expression]
  ): SparkPlan =
    filters.reduceOption(And(_, _)).fold(plan)(FilterExec(_, plan)) match {
      case some if list == some.output => some
      case j: ChangelogJoinExec        => FlaggedChanges.of(j, list).getOrElse(ProjectExec(list, j))
      case some                        => ProjectExec(list, some)
    }

  private def netted(
      j: ChangelogJoin,
      joined: ChangelogJoinExec,
      asked: AskedColumns,
      kind: Attribute,
      reason: String,
      within: Seq[Expression]
  ): NetOutputExec = {
    val columns =
      if (asked.computed.isEmpty) joined.output
      else asked.plain ++ joined.output.filter(j.changes.contains) ++ asked.computed
    val key = if (joined.spec.outputKey.forall(asked.show)) joined.spec.outputKey else Nil
    val told = asked.plain ++ asked.computed.map(_.toAttribute)
    if (key.nonEmpty && within.isEmpty) {
      val (rows, paired) = PairedChanges.of(columns, key, kind, j.changes, joined)
      NetOutputExec(key, told, kind, within, Some(paired), reason, rows)
    } else {
      val rows = if (asked.computed.isEmpty) joined else ProjectExec(columns, joined)
      NetOutputExec(key, told, kind, within, None, reason, rows)
    }
  }

  /** Of what decides to which partition a row of the output belongs, what rows are not told apart by. */
  private def hiddenKeys(spec: ChangelogSpec, asked: AskedColumns): Seq[Expression] = {
    def hidden(side: Side) = spec.keys(side).filterNot(asked.tell)
    spec.joinType.always match {
      case _ if spec.equiKeys.isEmpty =>
        spec.routing match {
          case Routing.Broadcast(unicast) => spec.spread(unicast).filterNot(asked.tell)
          case _                          => Nil
        }
      case Nil       => Side.both.flatMap(hidden)
      case Seq(side) => hidden(side)
      // the two are equal
      case _ => spec.equiKeys.filterNot(k => asked.tell(k.left) || asked.tell(k.right)).map(_.left)
    }
  }
}
