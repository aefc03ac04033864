package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  Literal
}
import org.apache.spark.sql.catalyst.plans.logical.{
  AnalysisHelper,
  Join,
  LogicalPlan,
  Project,
  Union
}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.Tagged
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ChangelogJoin,
  JoinKind,
  KeyedWatermarks,
  StreamJoinHint,
  TimeToLive
}
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, JoinTypes}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.WarnAtAnalysis
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{Refusal, StateTtl}
import org.apache.spark.sql.streamjoin.logical.times.{
  DistinctAttributes,
  OptimizedCondition,
  TimeColumns
}

import io.streamjoin.model.{BySide, JoinType, Side}

/**
 * Builds a [[ChangelogJoin]] for a join that Spark has resolved, or refuses it.
 *
 * {{{
 *   unique key of the input     rows of one key             state
 *     the join key, or a        are in one partition        in the join, by unique key
 *       superset of it
 *     another key               may change the partition    below the join, the latest version by
 *                                                           unique key, to add the old images
 *     none                      each row is its own image   in the join, rows with counts
 * }}}
 *
 * The second line also applies if an operator between the declaration and the join may drop an
 * image of a row.
 */
private[streamjoin] object ChangelogBuilder {

  /**
   * Builds the join, or refuses it. The columns with change metadata are aliases, which Spark
   * renames in a self-join.
   */
  def build(asked: Join): Either[Refusal, LogicalPlan] = {
    val plain = StreamJoinHint.removed(asked)
    val join = plain
      .withNewChildren(plain.children.map(input =>
        ChangelogMarks.withoutStale(UnitedChanges.of(GroupUpserts.of(input)))
      ))
      .asInstanceOf[Join]
    val condition = PlainCondition.of(join.condition.getOrElse(Literal.TrueLiteral))
    val options = StreamJoinHint.options(asked).getOrElse(JoinOptions())
    def ttl(side: Side): Either[Refusal, Option[TimeToLive]] = options.ttl(side) match {
      case Some(text) =>
        StateTtl.of(text, asked.origin)
          .map(micros => Some(TimeToLive(micros, options.retractsExpired)))
      case None => Right(None)
    }
    for {
      _ <- JoinKind.Changelog.misfit(asked).map(Refusal(_)).toLeft(())
      leftTtl <- ttl(Side.Left)
      rightTtl <- ttl(Side.Right)
      joinType <- JoinTypes.of(join.joinType).toRight(
        Refusal(StreamJoinErrors.unsupportedJoinType(join.origin, join.joinType.sql))
      )
      _ <- ChangelogRefusals.of(join, condition).map(Refusal(_)).toLeft(())
      (node, plan) = built(join, joinType, condition, BySide(leftTtl, rightTtl))
      _ <- EarlyResults.refusal(node, options).map(Refusal(_)).toLeft(())
    } yield {
      if (options.mode.isEmpty && options.emit.isEmpty)
        perhapsTemporal(join, node).foreach(node.setTagValue(WarnAtAnalysis.PerhapsTemporal, _))
      plan
    }
  }

  /**
   * The left event time of a join that may be meant as a temporal join: append-only rows with
   * versions, both with watermarks, which do not evict the versions.
   */
  private def perhapsTemporal(join: Join, node: ChangelogJoin): Option[String] = {
    def time(input: LogicalPlan) =
      TimeColumns.watermarked(input).headOption.filter(_ => TimeColumns.of(input).imposed)
        .map(ColumnNames.of)
    val isLookup = Set[JoinType](JoinType.Inner, JoinType.LeftOuter)(node.joinType) &&
      !ChangelogMarks.areChanges(join.left) && ChangelogMarks.isKeyed(join.right.output) &&
      node.leaving.columns(Side.Right).isEmpty && Side.both.forall(node.ttl(_).isEmpty)
    if (isLookup && time(join.right).nonEmpty) time(join.left) else None
  }

  private def built(
      join: Join,
      joinType: JoinType,
      condition: Expression,
      ttl: BySide[Option[TimeToLive]]
  ): (ChangelogJoin, LogicalPlan) = {
    val plain = DistinctAttributes.keep(BySide(join.left, join.right))
    // the draft determines keys and event times, on which the plan below the join depends
    val keyed = plain.map(KeyedWatermarks.of)
    val draft = ChangelogDraft.of(keyed.left, keyed.right, joinType, condition, ttl)
    val leaves = draft.leaving.exists
    val aging = Side.both.flatMap(draft.ttlTime(_))
    val inputs = if (leaves || aging.nonEmpty) keyed else plain
    def timed(a: Attribute) = leaves || aging.exists(_.exprId == a.exprId)
    val BySide(left, right) = BySide.of(side =>
      LatestVersions.kept(inputs(side), joinKey(draft, side), Lasting(leaves, ttl(side), timed))
    )
    val built = Tagged(join)(ChangelogDraft.of(
      left,
      CarriedSequence.apart(left, right),
      joinType,
      condition,
      ttl,
      timed
    ))
    val carried =
      AttributeSet(built.children.flatMap(_.output)) -- Side.both.flatMap(inputs(_).output)
    val columns = built.output.filterNot(carried.contains).map(a =>
      if (built.changes.contains(a)) Alias(a, a.name)() else a
    )
    (built, Project(columns, built))
  }

  /** Adds the columns with change metadata that projections have dropped. */
  def withMarks(plan: LogicalPlan): LogicalPlan = plan match {
    case u: Union => withKinds(u)
    case other =>
      other.mapChildren(withMarks) match {
        case p @ Project(list, child)
            if ChangelogMarks.areChanges(child) && ChangelogMarks.kind(p.output).isEmpty =>
          val marked = ChangelogMarks.marked(child.output).filterNot(p.outputSet.contains)
          Project(list ++ marked, child)
        case same => same
      }
  }

  /**
   * Adds the row kind to the parts of a union. A union has no key, and its parts have equally many
   * columns, so the kind is the only column that all of them can add.
   */
  private def withKinds(union: Union): LogicalPlan = {
    val parts = union.children.map(part => part -> withMarks(part))
    val kinds = parts.map { case (part, made) =>
      ChangelogMarks.kind(made.output).filter(k => !part.outputSet.contains(k))
    }
    union.withNewChildren(parts.zip(kinds).map { case ((part, made), kind) =>
      val columns = part.output ++ kind.filter(_ => kinds.forall(_.nonEmpty))
      if (columns == made.output) made else Project(columns, made)
    })
  }

  /**
   * The join key of a side as columns; none if a part of it is an expression. It is that of the
   * optimized condition, by which the join is planned.
   */
  private def joinKey(j: ChangelogJoin, side: Side): Option[Seq[Attribute]] = {
    val planned = AnalysisHelper.allowInvokingTransformsInAnalyzer {
      j.copy(condition = OptimizedCondition.of(j.condition, j.children.flatMap(_.output)))
    }
    val keys = planned.equiKeys.map(_.of(side))
    Option.when(keys.forall(_.isInstanceOf[Attribute]))(keys.collect { case a: Attribute => a })
  }
}
