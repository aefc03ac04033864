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
import org.apache.spark.sql.streamjoin.logical.plan.SameRows
import org.apache.spark.sql.streamjoin.logical.plan.analysis.AliasedColumn
import org.apache.spark.sql.streamjoin.logical.plan.changes.{ChangelogMarks, EndsChanges}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ChangelogJoin,
  ImposeOrder,
  Normalization,
  TimeToLive
}

import io.streamjoin.model.{BySide, JoinType}

/**
 * Normalization of a changelog: stores the latest version of each key, to add the old image to each
 * change. It is required in two cases:
 *
 *  - Changes of one key may be in different partitions of the join.
 *  - An operator between declaration and join may drop an image.
 *
 * Source: Flink's operator ChangelogNormalize.
 */
private[resolve] object LatestVersions {

  /**
   * The input of a join, normalized right above its declaration if a change could lack its old
   * image. Otherwise only its sequence is restored, see [[CarriedSequence]].
   *
   * @param joinKey the join key as columns of the input; none if a part of it is an expression
   * @param lasting when the join evicts and expires the rows of the input
   */
  def kept(
      input: LogicalPlan,
      joinKey: Option[Seq[Attribute]],
      lasting: Lasting
  ): LogicalPlan = {
    val key = ChangelogMarks.key(input.output)
    val called = AliasedColumn.of(input.output, input)
    val together = joinKey.exists(_.forall(k => key.exists(_.exprId == k.exprId)))
    if (!ChangelogMarks.isKeyed(input.output))
      UnitedChanges.completed(input)(normalized(_, images(_, lasting, called)))
    else
      Option
        .when(key.nonEmpty && together && passesAll(input))(input)
        .flatMap(CarriedSequence.of)
        .getOrElse(normalized(input, images(_, lasting, called)))
  }

  /** Adds the old image to each change, for operators other than joins. */
  def complete(changes: LogicalPlan): LogicalPlan =
    normalized(changes, images(_, Lasting.forEver, Nil))

  /**
   * Whether each change has its old image: no declaration has a key, or a join below adds the
   * image.
   */
  private def areComplete(changes: LogicalPlan): Boolean = changes match {
    case _: ChangelogJoin | EndsChanges() => true
    case p if Declaration.is(p)           => !ChangelogMarks.isKeyed(p.output)
    case p                                => p.children.forall(areComplete)
  }

  /** Whether all declared changes reach this plan. */
  private def passesAll(plan: LogicalPlan): Boolean = plan match {
    case p if Declaration.is(p)                           => true
    case _: Project | SameRows(_) | _: EventTimeWatermark => passesAll(plan.children.head)
    case o: ImposeOrder => !o.maxAhead.exists(_.rejects) && passesAll(o.child)
    case _              => false
  }

  /**
   * Normalizes the incomplete parts of a plan. Of a union, at any depth, some parts may have keys
   * and others none.
   */
  private def normalized(plan: LogicalPlan, images: LogicalPlan => LogicalPlan): LogicalPlan =
    if (areComplete(plan)) plan
    else if (Declaration.is(plan)) images(plan)
    else
      ordered(plan).map(images).fold(plan.mapChildren(normalized(_, images)))(only(plan.output, _))

  /**
   * A declaration with watermarked columns and projections above it, and with its sequence
   * restored. The normalization is above them, because the watermarks decide when it evicts a
   * version and which changes are late.
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

  /** The plan with some of its columns only, by their IDs. */
  def only(columns: Seq[Attribute], plan: LogicalPlan): LogicalPlan =
    if (plan.output.length == columns.length) plan
    else Project(columns.map(a => plan.output.find(_.exprId == a.exprId).get), plan)

  /**
   * Adds the old images to a keyed input, by an anti join with an empty input on the unique key.
   * The output has the columns of the input, so the nodes above remain valid.
   *
   * @param called the columns of the input with their alias above
   */
  private def images(
      declared: LogicalPlan,
      lasting: Lasting,
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
    val whole = Project(
      declared.output.map { a =>
        if (a.exprId == kind.exprId) Alias(a, a.name)(explicitMetadata = Some(a.metadata)) else a
      },
      declared
    )
    val complete = ChangelogDraft
      .of(
        whole,
        nothing,
        JoinType.LeftAnti,
        condition,
        // the join above expires the same row at the same time, and retracts what is required
        BySide(lasting.ttl.map(_.copy(retracts = false)), None),
        lasting.timed,
        Some(Normalization(lasting.evicts))
      )
      .copy(aliased = called.filter(c => key.exists(_.semanticEquals(c.child))))
    val back: Seq[NamedExpression] = declared.output.map { a =>
      if (a.exprId != kind.exprId) a
      else
        Alias(complete.changeKind, a.name)(exprId = a.exprId, explicitMetadata = Some(a.metadata))
    }
    Project(back, complete)
  }
}

/**
 * When the rows of an input leave the state of a join.
 *
 * @param evicts whether watermarks evict them
 * @param timed selects the event times by which they are evicted or expire
 */
private[resolve] final case class Lasting(
    evicts: Boolean,
    ttl: Option[TimeToLive],
    timed: Attribute => Boolean
)

private[resolve] object Lasting {
  val forEver: Lasting = Lasting(evicts = false, None, _ => false)
}
