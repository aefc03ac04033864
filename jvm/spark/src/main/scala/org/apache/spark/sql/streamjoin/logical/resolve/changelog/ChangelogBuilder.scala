package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  Literal
}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project, Union}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.{
  ChangelogJoin,
  ChangelogMarks,
  JoinKind,
  JoinOptions,
  JoinTypes,
  KeyedWatermarks,
  StreamJoinHint
}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{Refusal, StateTtl}
import org.apache.spark.sql.streamjoin.logical.times.DistinctAttributes

import io.streamjoin.model.{JoinType, Side}

/**
 * Makes a [[ChangelogJoin]] of a join that Spark has resolved, or refuses it.
 *
 * {{{
 *   the input's unique key             rows of one key          state
 *     is the join key, or more of it   are in one partition     by unique key, in the join
 *     else                             may change partitions    their last image by unique key below,
 *                                                               with which the change gets both images
 *     there is none                    each is its own image    rows, counted
 * }}}
 *
 * The same where something between the declaration and the join may drop an image of a row.
 */
private[streamjoin] object ChangelogBuilder {

  /** The join, with columns of its own for the changes: where it is joined with itself Spark renews them. */
  def build(asked: Join): Either[Refusal, LogicalPlan] = {
    val plain = StreamJoinHint.changed(asked)(_.child)
    val join = plain
      .withNewChildren(plain.children.map(input =>
        ChangelogMarks.withoutStale(UnitedChanges.of(GroupUpserts.of(input)))
      ))
      .asInstanceOf[Join]
    val condition = PlainCondition.of(join.condition.getOrElse(Literal.TrueLiteral))
    val options = StreamJoinHint.on(asked).getOrElse(JoinOptions())
    for {
      _ <- JoinKind.Changelog.misfit(asked).map(Refusal(_)).toLeft(())
      leftTtl <- ttl(options.leftTtl, asked.origin)
      rightTtl <- ttl(options.rightTtl, asked.origin)
      joinType <- JoinTypes.of(join.joinType).toRight(
        Refusal(StreamJoinErrors.unsupportedJoinType(join.origin, join.joinType.sql))
      )
      _ <- ChangelogRefusals.of(join, condition).map(Refusal(_)).toLeft(())
      (node, plan) = built(join, joinType, condition, leftTtl, rightTtl)
      _ <- EarlyResults.refusal(node, options).map(Refusal(_)).toLeft(())
    } yield plan
  }

  private def ttl(text: Option[String], origin: Origin): Either[Refusal, Option[Long]] =
    text match {
      case Some(said) => StateTtl.of(said, origin).map(Some(_)).left.map(Refusal(_))
      case None       => Right(None)
    }

  private def built(
      join: Join,
      joinType: JoinType,
      condition: Expression,
      leftTtl: Option[Long],
      rightTtl: Option[Long]
  ): (ChangelogJoin, LogicalPlan) = {
    val (l, r) = (
      DistinctAttributes.keep(join.left, join.right),
      DistinctAttributes.keep(join.right, join.left)
    )
    // which key it has decides what must be below it; so do the times by which rows leave
    val (timedLeft, timedRight) = (KeyedWatermarks.of(l), KeyedWatermarks.of(r))
    val draft = ChangelogDraft.withTimes(
      ChangelogDraft.of(timedLeft, timedRight, joinType, condition)
        .copy(leftTtl = leftTtl, rightTtl = rightTtl)
    )
    val leaves = draft.leaving.exists
    val aging = Side.both.flatMap(draft.ttlTime(_))
    val (x, y) = if (leaves || aging.nonEmpty) (timedLeft, timedRight) else (l, r)
    val left = LastImages.kept(x, joinKey(draft, Side.Left), leaves, draft.leftTtl)
    val right = LastImages.kept(y, joinKey(draft, Side.Right), leaves, draft.rightTtl)
    val imaged = ChangelogDraft
      .of(left, CarriedSequence.apart(left, right), joinType, condition)
      .copy(leftTtl = draft.leftTtl, rightTtl = draft.rightTtl)
    val built = ChangelogDraft.withTimes(imaged, a => leaves || aging.exists(_.exprId == a.exprId))
    built.copyTagsFrom(join)
    val carried = AttributeSet(built.children.flatMap(_.output)) -- (x.output ++ y.output)
    val columns = built.output.filterNot(carried.contains).map(a =>
      if (built.changes.contains(a)) Alias(a, a.name)() else a
    )
    (built, Project(columns, built))
  }

  /** The plan with the columns that tell of its changes, where projections have left them out. */
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

  /** A union has no key, and each of its parts as many columns: the kind is all that they can have beside their own. */
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

  /** The columns of an input by which it is joined, where all of its keys are such. */
  private def joinKey(j: ChangelogJoin, side: Side): Option[Seq[Attribute]] = {
    val keys = j.equiKeys.map(_.of(side))
    Option.when(keys.forall(_.isInstanceOf[Attribute]))(keys.collect { case a: Attribute => a })
  }
}
