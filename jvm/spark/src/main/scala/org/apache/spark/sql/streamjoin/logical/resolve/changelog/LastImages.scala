package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  And,
  Attribute,
  AttributeReference,
  EqualNullSafe,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.logical.plan.{
  AliasedColumn,
  ChangeKindOf,
  ChangelogJoin,
  ChangelogMarks,
  ImposeOrder,
  SameRows
}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.ZonedInput

import io.streamjoin.model.JoinType

/**
 * The last image of each key of an input, with which a change gets the one that it replaces: where changes
 * of one key may come to other partitions of the join, or something in between may drop one of its images.
 */
private[resolve] object LastImages {

  /**
   * The input, with the last image of each key kept right above its declaration where a change could
   * miss the one that it replaces. Where none could, with its sequence, see [[CarriedSequence]].
   *
   * @param joinKey the columns of the input by which it is joined, where all of its keys are such
   * @param leaves whether rows leave the join by watermarks
   * @param ttl for how long, in microseconds, rows are kept
   */
  def kept(
      input: LogicalPlan,
      joinKey: Option[Seq[Attribute]],
      leaves: Boolean,
      ttl: Option[Long]
  ): LogicalPlan = {
    val size = ChangelogMarks.kind(input.output).fold(0)(ChangelogMarks.keySize)
    val key = ChangelogMarks.key(input.output)
    val called = AliasedColumn.of(input.output, input)
    val together = joinKey.exists(_.forall(k => key.exists(_.exprId == k.exprId)))
    if (size == 0) UnitedChanges.completed(input)(normalized(_, images(_, leaves, ttl, called)))
    else
      Option
        .when(key.nonEmpty && together && passesAll(input))(input)
        .flatMap(CarriedSequence.of)
        .getOrElse(normalized(input, images(_, leaves, ttl, called)))
  }

  /** Changes of which each comes with the image that it replaces, also where no join keeps that. */
  def complete(changes: LogicalPlan): LogicalPlan =
    normalized(changes, images(_, leaves = false, ttl = None, Nil))

  /** Whether nothing has a key by which an image could be missed, or something below looks after that. */
  def areComplete(changes: LogicalPlan): Boolean = changes match {
    case _: ChangelogJoin => true
    case p if Declaration.is(p) =>
      ChangelogMarks.kind(p.output).forall(ChangelogMarks.keySize(_) == 0)
    case p => p.children.forall(areComplete)
  }

  /** Whether each change that was declared comes here. */
  private def passesAll(plan: LogicalPlan): Boolean = plan match {
    case p if Declaration.is(p) => true
    case Project(_, child)      => passesAll(child)
    case SameRows(child)        => passesAll(child)
    case w: EventTimeWatermark  => passesAll(w.child)
    case o: ImposeOrder         => !o.maxAhead.exists(_.rejects) && passesAll(o.child)
    case _                      => false
  }

  /** Of a union some parts may have keys and others none, on any level. */
  private def normalized(plan: LogicalPlan, images: LogicalPlan => LogicalPlan): LogicalPlan =
    if (areComplete(plan)) plan
    else if (Declaration.is(plan)) images(plan)
    else ordered(plan).map(images).fold(plan.mapChildren(normalized(_, images)))(asking(plan, _))

  /**
   * A declaration with orders on top of it, and columns chosen between them: those orders say when the last image
   * of a key may go, and what is late. With the sequence, where that was not chosen.
   */
  private def ordered(plan: LogicalPlan): Option[LogicalPlan] = {
    def declared(p: LogicalPlan): Boolean = p match {
      case _: EventTimeWatermark | _: ImposeOrder | SameRows(_) | _: Project
          if !Declaration.is(p) =>
        p.children.forall(declared)
      case _ => Declaration.is(p)
    }
    plan match {
      case _: EventTimeWatermark | _: ImposeOrder
          if ChangelogMarks.key(plan.output).nonEmpty && declared(plan) =>
        CarriedSequence.of(plan)
      case _ => None
    }
  }

  /** The images with the columns of the input in whose place they are. */
  private def asking(input: LogicalPlan, images: LogicalPlan): LogicalPlan =
    if (images.output.length == input.output.length) images
    else Project(input.output.map(a => images.output.find(_.exprId == a.exprId).get), images)

  /**
   * The changes of a keyed input with both images: a join with nothing, by its key, of the rows that
   * have no partner. Its columns are those of the input, so what is above goes on as it is.
   *
   * @param called the columns of the input under the alias that it has above
   */
  private def images(
      declared: LogicalPlan,
      leaves: Boolean,
      ttl: Option[Long],
      called: Seq[AliasedColumn]
  ): LogicalPlan = {
    val kind = ChangelogMarks.kind(declared.output).get
    val key = ChangelogMarks.key(declared.output)
    val nothing = LocalRelation(
      key.map(k => AttributeReference(k.name, k.dataType)()),
      Nil,
      isStreaming = true
    )
    val condition = key
      .zip(nothing.output)
      .map { case (k, n) => EqualNullSafe(k, n): Expression }
      .reduce(And(_, _))
    // commit columns are part of what is kept: what is above may ask for them
    val whole = Project(
      declared.output.map { a =>
        if (a.exprId == kind.exprId) Alias(a, a.name)(explicitMetadata = Some(a.metadata)) else a
      },
      declared
    )
    val join = ChangelogDraft.of(whole, nothing, JoinType.LeftAnti, condition, normalizes = true)
    val input = {
      val k = ChangelogMarks.kind(whole.output).get
      Project(
        whole.output.filterNot(_.exprId == k.exprId) :+ Alias(ChangeKindOf.comes(k), "_added")(),
        whole
      )
    }
    val untimed = join.copy(
      left = ZonedInput.joined(input),
      added = Seq(input.output.last, join.added(1)),
      leftTtl = ttl,
      aliased = called.filter(c => key.exists(_.semanticEquals(c.child)))
    )
    val complete = if (leaves) ChangelogDraft.withTimes(untimed) else untimed
    val back: Seq[NamedExpression] = declared.output.map { a =>
      if (a.exprId != kind.exprId) a
      else
        Alias(complete.changes.head, a.name)(exprId = a.exprId, explicitMetadata = Some(a.metadata))
    }
    Project(back, complete)
  }
}
