package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeSet,
  Expression,
  IsNotNull,
  PlanExpression,
  PredicateHelper,
  PythonFuncExpression
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangeKindOf
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin
import org.apache.spark.sql.streamjoin.physical.consolidate.{PackUpdatesExec, PackedUpdate}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.BatchInfo
import org.apache.spark.sql.streamjoin.physical.stateful.times.JoinTimes

import io.streamjoin.join.changelog.ChangeKind
import io.streamjoin.model.Side

/** Planner of changelog joins: decides on the output columns and the row identity. */
private[physical] object PlanChangelogJoin extends PredicateHelper {

  /**
   * Splits a filter above the join into the conjuncts that the join evaluates, and the rest. If a
   * filter rejects one image of an update, the other image becomes an insert or a delete. Only the
   * join can emit it with this row kind.
   *
   * @return the conjuncts that the join evaluates, and the rest
   */
  def filter(j: ChangelogJoin, condition: Expression): (Seq[Expression], Seq[Expression]) =
    splitConjunctivePredicates(condition).partition { c =>
      c.deterministic && c.references.nonEmpty && !c.references.exists(j.changes.contains) &&
      !c.exists { case _: PythonFuncExpression | _: PlanExpression[_] => true; case _ => false }
    }

  /**
   * @param asked the required columns
   * @param wanted the conjuncts that the required rows satisfy
   */
  def apply(
      j: ChangelogJoin,
      asked: AttributeSet,
      planInput: LogicalPlan => SparkPlan,
      wanted: Seq[Expression] = Nil
  ): ChangelogJoinExec = {
    val appendOnly = AppendOnly(j)
    def planned(side: Side) = {
      val input = planInput(j.input(side))
      // all rows are inserts, so the flag need not be shuffled
      if (appendOnly)
        ProjectExec(input.output.filterNot(_.exprId == j.of(side).added.exprId), input)
      else input
    }
    val (left, right) = (planned(Side.Left), planned(Side.Right))
    val read = asked ++ AttributeSet(j.condition +: wanted) ++ AttributeSet(j.inputs.flatMap(_.key))
    val (l, r) = (side(j, Side.Left, left.output, read), side(j, Side.Right, right.output, read))
    val spec = ChangelogSpec(
      JoinedOn(j.joinType, j.equiKeys, j.condition),
      l,
      r,
      if (appendOnly) ChangelogMode.AppendOnly
      else
        j.normalization.fold[ChangelogMode](ChangelogMode.Join)(n =>
          ChangelogMode.Normalize(n.evicts)
        ),
      output(j, asked, wanted),
      JoinTimes.of(j.analysis),
      ChangelogInputs(
        Side.both.zip(Seq(l, r)).flatMap { case (side, own) =>
          j.of(side).parts
            .filter(_.column.forall(name => own.kept.exists(_.name == name)))
            .map(side -> _)
        },
        InputFilter.of(j, wanted)
      ),
      ChangelogWords(ChangelogExplanation.aliases(j))
    )
    new ChangelogJoinExec(
      packed(j, Side.Left, l, left),
      packed(j, Side.Right, r, right),
      BatchInfo(),
      spec.copy(words = ChangelogExplanation.of(spec, j))
    )
  }

  private def output(
      j: ChangelogJoin,
      asked: AttributeSet,
      wanted: Seq[Expression]
  ): ChangelogColumns = {
    val required = j.output.filter(asked.contains)
    val key = j.outputKey.filter(_.forall(k => required.exists(_.exprId == k.exprId)))
    ChangelogColumns(required, j.changes, key.getOrElse(Nil), wanted.reduceOption(And(_, _)))
  }

  private def packed(
      j: ChangelogJoin,
      side: Side,
      own: ChangelogSide,
      input: SparkPlan
  ): SparkPlan = own.packed.fold(input)(PackUpdatesExec(same(j, side), _, input))

  /**
   * The expressions that are equal in both images of an update, so that a packed update stores them
   * once: join key, unique key and sequence. If latest versions are stored below, the old image has
   * another sequence than the new one.
   */
  private def same(j: ChangelogJoin, side: Side): Seq[Expression] = {
    val sequence = j.sequence(side).filterNot(_ => joinsIn(j.input(side)).exists(_.normalizes))
    (j.equiKeys.map(_.of(side)) ++ j.key(side) ++ sequence).distinct
  }

  private def joinsIn(input: LogicalPlan): Seq[ChangelogJoin] = input.collect {
    case below: ChangelogJoin => below
  }

  /**
   * The format of packed updates. Updates are packed if the key is declared: changes of a join
   * below are mostly not shuffled again.
   */
  private def packed(
      j: ChangelogJoin,
      side: Side,
      columns: Seq[Attribute]
  ): Option[PackedUpdate] =
    Option.when(j.hasDeclaredKey(side) && j.equiKeys.nonEmpty && hasPreimages(j.input(side))) {
      val known = j.of(side).added +: same(j, side)
      PackedUpdate(
        j.of(side).added,
        columns.filterNot(a => known.exists(_.semanticEquals(a)))
      )
    }

  /** Whether an update may be two rows. */
  private def hasPreimages(input: LogicalPlan): Boolean =
    joinsIn(input).nonEmpty || input.exists(_.expressions.exists(_.exists {
      case k: ChangeKindOf => k.words.values.exists(_ == ChangeKind.Preimage.name)
      case _               => false
    }))

  private def side(
      j: ChangelogJoin,
      side: Side,
      columns: Seq[Attribute],
      read: AttributeSet
  ): ChangelogSide = {
    val sequence = j.sequence(side)
    ChangelogSide(
      columns,
      j.of(side).added,
      packed(j, side, columns),
      SideKey(
        j.key(side),
        j.of(side).inferred,
        j.of(side).ofGroups,
        j.oneAKey(side),
        sequence,
        sequence.exists(read.contains)
      ),
      (j.only(side).toSeq ++ timed(j, side)).reduceOption(And(_, _)),
      SideExpiry(
        j.leaving.columns(side),
        j.ttl(side).map(_.micros),
        j.ttlTime(side).map(a => j.analysis.expressions.indexWhere(_.semanticEquals(a))),
        j.ttl(side).exists(_.retracts)
      ),
      AppendOnly.onlyInserts(j, side)
    )
  }

  /**
   * The event times that the condition bounds must not be NULL. A row with a NULL there matches
   * nothing, and would never be evicted.
   */
  private def timed(j: ChangelogJoin, side: Side): Seq[Expression] =
    if (!j.leaving.exists) Nil
    else {
      val bounds = j.analysis.bounds
      bounds.indices(side).filter(bounds.constrained).map(c => IsNotNull(j.analysis.expressions(c)))
    }
}
