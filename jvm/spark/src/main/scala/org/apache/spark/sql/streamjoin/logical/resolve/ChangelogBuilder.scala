package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  And,
  Attribute,
  AttributeReference,
  AttributeSet,
  Cast,
  CommonExpressionRef,
  EqualNullSafe,
  Expression,
  In,
  Literal,
  NamedExpression,
  PythonFuncExpression,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.errors.{ChangelogErrors, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.{
  ChangelogJoin,
  ChangelogMarks,
  ImposeOrder,
  JoinOptions,
  KeyedWatermarks,
  StreamJoin,
  StreamJoinHint
}
import org.apache.spark.sql.streamjoin.logical.times.{DistinctAttributes, TimeColumns}
import org.apache.spark.sql.types.{LongType, MetadataBuilder, StringType, TimestampType}

import io.streamjoin.join.changelog.ChangeKind
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
  def build(asked: Join): LogicalPlan = {
    StateTtl.misfit(asked).foreach(throw _)
    val options = StreamJoinHint.on(asked).getOrElse(JoinOptions())
    def ttl(text: Option[String]) = text.map(StateTtl.millis(_, asked.origin))
    val join = {
      val plain = StreamJoinHint.changed(asked)(_.child)
      plain.withNewChildren(plain.children.map(GroupUpserts.of)).asInstanceOf[Join]
    }
    val joinType = StreamJoin
      .typeOf(join.joinType)
      .getOrElse(throw StreamJoinErrors.unsupportedJoinType(join.origin, join.joinType.sql))
    for ((side, input) <- Side.both.zip(join.children)) check(join, side, input)
    val condition =
      PlainCondition.of(join.condition.getOrElse(Literal.TrueLiteral))
    checkCondition(join, condition)
    val (l, r) = (
      DistinctAttributes.keep(join.left, join.right),
      DistinctAttributes.keep(join.right, join.left)
    )
    // which key it has decides what must be below it; so do the times by which rows leave
    val (timedLeft, timedRight) = (KeyedWatermarks.of(l), KeyedWatermarks.of(r))
    val draft = withTimes(
      of(timedLeft, timedRight, joinType, condition)
        .copy(leftTtl = ttl(options.leftTtl), rightTtl = ttl(options.rightTtl))
    )
    val leaves = draft.leaving.exists
    val aging = Side.both.flatMap(draft.ttlTime(_))
    val (x, y) = if (leaves || aging.nonEmpty) (timedLeft, timedRight) else (l, r)
    val imaged = of(
      withImages(x, joinKey(draft, Side.Left), leaves, draft.leftTtl),
      withImages(y, joinKey(draft, Side.Right), leaves, draft.rightTtl),
      joinType,
      condition
    ).copy(leftTtl = draft.leftTtl, rightTtl = draft.rightTtl)
    val built = withTimes(imaged, a => leaves || aging.exists(_.exprId == a.exprId))
    built.copyTagsFrom(join)
    Project(
      built.output.map(a => if (built.changes.contains(a)) Alias(a, a.name)() else a),
      built
    )
  }

  /** The plan with the columns that tell of its changes, where projections have left them out. */
  def withMarks(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case p @ Project(list, child)
        if ChangelogMarks.areChanges(child) && ChangelogMarks.kind(p.output).isEmpty =>
      Project(list ++ ChangelogMarks.marked(child.output).filterNot(p.outputSet.contains), child)
  }

  /** The columns of an input by which it is joined, where all of its keys are such. */
  private def joinKey(j: ChangelogJoin, side: Side): Option[Seq[Attribute]] = {
    val keys = j.equiKeys.map(_.of(side))
    Option.when(keys.forall(_.isInstanceOf[Attribute]))(keys.collect { case a: Attribute => a })
  }

  /** The join with those of its event times, as the person calls them. */
  private def withTimes(
      j: ChangelogJoin,
      wanted: Attribute => Boolean = _ => true
  ): ChangelogJoin = {
    val times = j.children.flatMap { p =>
      val own = TimeColumns.of(p)
      p.output.filter(a => own.isWatermarked(a) && wanted(a))
    }
    j.copy(
      times = times,
      names = times.map { a =>
        val side = if (j.left.outputSet.contains(a)) Side.Left else Side.Right
        ColumnNames.among(j.children.flatMap(_.output), a)
          .getOrElse(s"${side.name}.${ColumnNames.of(a)}")
      }
    )
  }

  private def of(
      left: LogicalPlan,
      right: LogicalPlan,
      joinType: JoinType,
      condition: Expression,
      normalizes: Boolean = false
  ): ChangelogJoin = {
    val (l, r) = (arriving(left), arriving(right))
    def keyOf(plan: LogicalPlan) = ChangelogMarks.key(plan.output)
    def sequenceOf(plan: LogicalPlan) =
      if (keyOf(plan).isEmpty) None else ChangelogMarks.sequence(plan.output)
    ChangelogJoin(
      ZonedInput.joined(l),
      ZonedInput.joined(r),
      joinType,
      condition,
      Seq(l.output.last, r.output.last),
      keyOf(left),
      keyOf(right),
      sequenceOf(left),
      sequenceOf(right),
      None,
      None,
      Nil,
      Nil,
      Seq(
        AttributeReference(
          ChangelogMarks.ChangeType,
          StringType,
          nullable = false,
          new MetadataBuilder().putLong(ChangelogMarks.Kind, 0L).build()
        )(),
        commit(AttributeReference(ChangelogMarks.CommitVersion, LongType, nullable = false)()),
        commit(AttributeReference(
          ChangelogMarks.CommitTimestamp,
          TimestampType,
          nullable = false
        )())
      ),
      InputParts.of(l, ChangelogMarks.areChanges(left)),
      InputParts.of(r, ChangelogMarks.areChanges(right)),
      normalizes
    )
  }

  private def commit(a: Attribute): Attribute =
    a.withMetadata(new MetadataBuilder().putLong(ChangelogMarks.Commit, 1L).build())

  /** The input as it goes into the join: the columns of its rows, and whether they come or go. */
  private def arriving(input: LogicalPlan): LogicalPlan = {
    val kind = ChangelogMarks.kind(input.output)
    val sequence =
      if (ChangelogMarks.key(input.output).isEmpty) None
      else ChangelogMarks.sequence(input.output)
    val columns = input.output.filterNot { a =>
      kind.exists(_.exprId == a.exprId) ||
      ChangelogMarks.isCommit(a) && !sequence.exists(_.exprId == a.exprId)
    }
    val added = kind.fold[Expression](Literal.TrueLiteral) { k =>
      In(k, ChangeKind.all.filter(_.added).map(a => Literal(a.name)))
    }
    Project(columns :+ Alias(added, "_added")(), input)
  }

  // ---- both images ----

  /**
   * The input, with the last image of each key kept right above its declaration where a change could
   * miss the one that it replaces.
   */
  private def withImages(
      input: LogicalPlan,
      joinKey: Option[Seq[Attribute]],
      leaves: Boolean,
      ttl: Option[Long]
  ): LogicalPlan = {
    val size = ChangelogMarks.kind(input.output).fold(0)(ChangelogMarks.keySize)
    val key = ChangelogMarks.key(input.output)
    val together = joinKey.exists(_.forall(k => key.exists(_.exprId == k.exprId)))
    if (size == 0 || key.nonEmpty && together && passesAll(input)) input
    else normalized(input, images(_, leaves, ttl))
  }

  /** Whether each change that was declared comes here. */
  private def passesAll(plan: LogicalPlan): Boolean = plan match {
    case p if isDeclaration(p)   => true
    case Project(_, child)       => passesAll(child)
    case SubqueryAlias(_, child) => passesAll(child)
    case v: View                 => passesAll(v.child)
    case w: EventTimeWatermark   => passesAll(w.child)
    case o: ImposeOrder          => !o.maxAhead.exists(_.rejects) && passesAll(o.child)
    case _                       => false
  }

  /** Where rows become changes. */
  private def isDeclaration(plan: LogicalPlan): Boolean = plan match {
    case Project(_, child) => ChangelogMarks.areChanges(plan) && !ChangelogMarks.areChanges(child)
    case _: ChangelogJoin  => true
    case _                 => false
  }

  private def normalized(plan: LogicalPlan, images: LogicalPlan => LogicalPlan): LogicalPlan =
    if (isDeclaration(plan) || isOrdered(plan)) images(plan)
    else plan.mapChildren(normalized(_, images))

  /** A declaration with orders on top of it: those say when the last image of a key may go. */
  private def isOrdered(plan: LogicalPlan): Boolean = {
    def declared(p: LogicalPlan): Boolean = p match {
      case _: EventTimeWatermark | _: ImposeOrder | _: SubqueryAlias | _: View =>
        p.children.forall(declared)
      case _ => isDeclaration(p)
    }
    plan match {
      case w: EventTimeWatermark => declared(w)
      case o: ImposeOrder        => declared(o)
      case _                     => false
    }
  }

  /**
   * The changes of a keyed input with both images: a join with nothing, by its key, of the rows that
   * have no partner. Its columns are those of the input, so what is above goes on as it is.
   */
  private def images(declared: LogicalPlan, leaves: Boolean, ttl: Option[Long]): LogicalPlan = {
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
    val join = of(whole, nothing, JoinType.LeftAnti, condition, normalizes = true)
    val input = {
      val k = ChangelogMarks.kind(whole.output).get
      val added = In(k, ChangeKind.all.filter(_.added).map(a => Literal(a.name)))
      Project(
        whole.output.filterNot(_.exprId == k.exprId) :+ Alias(added, "_added")(),
        whole
      )
    }
    val untimed = join.copy(
      left = ZonedInput.joined(input),
      added = Seq(input.output.last, join.added(1)),
      leftTtl = ttl
    )
    val complete = if (leaves) withTimes(untimed) else untimed
    val back: Seq[NamedExpression] = declared.output.map { a =>
      if (a.exprId != kind.exprId) a
      else
        Alias(complete.changes.head, a.name)(exprId = a.exprId, explicitMetadata = Some(a.metadata))
    }
    Project(back, complete)
  }

  // ---- refusals ----

  private def check(join: Join, side: Side, input: LogicalPlan): Unit = {
    if (!input.isStreaming) {
      throw StreamJoinErrors.staticInput(join.origin, side.name, input.output.map(_.name))
    }
    if (!ChangelogMarks.areChanges(input)) {
      if (ChangelogMarks.changesWithin(input)) {
        throw ChangelogErrors.changeTypeDropped(
          join.origin,
          s"the ${side.name} input",
          input.output.map(_.name)
        )
      }
      Changelogs.undeclared(join, side, input).foreach(refusal => throw refusal.error)
      onlyAppends(join, side, input)
    } else above(join, side, input)
  }

  /** What stands between the declaration of changes and the join. */
  private def above(join: Join, side: Side, plan: LogicalPlan): Unit = plan match {
    case p if isDeclaration(p) =>
      p match {
        case Project(_, child)
            if ChangelogMarks.kind(p.output).exists(ChangelogMarks.keySize(_) == 0) =>
          child.foreach(steady(join, side, _))
        case _ =>
      }
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: EventTimeWatermark |
        _: ImposeOrder =>
      steady(join, side, plan)
      withoutKind(join, side, plan)
      plan.children.foreach(above(join, side, _))
    case other =>
      throw ChangelogErrors.unsupportedChangelog(
        join.origin,
        s"${other.nodeName} stands between the changes of the ${side.name} input and the join, and " +
          "may make other rows of them",
        "the projection or filter of columns only, or declare the changes above it"
      )
  }

  /**
   * Both images of an update must come, each as the row that it is: neither a column nor a filter may
   * depend on what is said of the change.
   */
  private def withoutKind(join: Join, side: Side, plan: LogicalPlan): Unit = {
    val below = plan.children.flatMap(_.output)
    val kind = AttributeSet(ChangelogMarks.kind(below))
    def refused(e: Expression, name: String) = throw ChangelogErrors.unsupportedChangelog(
      join.origin,
      s"${ColumnNames.sql(e)}, between the changes of the ${side.name} input and the join, depends on " +
        s"$name: a row would not go as it came",
      "it without that column, or below the declaration of the changes"
    )
    plan match {
      case Filter(condition, _) =>
        for (a <- condition.references.find(kind.contains)) refused(condition, a.name)
      case Project(list, _) =>
        val ofKind = list.filter(_.references.exists(kind.contains))
        for (e <- ofKind.drop(1).headOption) refused(e, kind.head.name)
        val counted = kind.forall(ChangelogMarks.keySize(_) == 0)
        for {
          e <- list if !isColumn(e)
          a <- e.references
          if kind.contains(a) || counted && ChangelogMarks.isCommit(a)
        } refused(e, a.name)
      case _ =>
    }
  }

  /** A view casts each of its columns to the type that it has. */
  private def isColumn(e: Expression): Boolean = e match {
    case Alias(child, _)                           => isColumn(child)
    case c: Cast if c.child.dataType == c.dataType => isColumn(c.child)
    case other                                     => other.isInstanceOf[Attribute]
  }

  /** A row that goes must be what it was when it came. */
  private def steady(join: Join, side: Side, plan: LogicalPlan): Unit =
    plan.expressions.foreach { e =>
      if (!e.deterministic || e.containsPattern(CURRENT_LIKE)) {
        throw ChangelogErrors.nondeterministicChange(join.origin, side.name, e)
      }
    }

  private def onlyAppends(join: Join, side: Side, input: LogicalPlan): Unit = input.foreach {
    case a @ (_: Aggregate | _: Distinct) if a.isStreaming =>
      throw ChangelogErrors.unsupportedChangelog(
        join.origin,
        s"an aggregation stands below the ${side.name} input, whose rows come again when they change",
        "the aggregation with nothing but columns and filters between it and the join; or fromUpserts on " +
          "its result, written to a table or topic first"
      )
    case s: StreamJoin if s.late.nonEmpty =>
      throw StreamJoinErrors.lateRowsBelow(join.origin, side.name, input.output)
    case _ =>
  }

  private def checkCondition(join: Join, condition: Expression): Unit = {
    val hidden = join.children.flatMap(_.output).filter { a =>
      a.metadata.contains(ChangelogMarks.Kind) || ChangelogMarks.isCommit(a)
    }
    val known = join.inputSet
    condition.references.find { a =>
      hidden.exists(_.exprId == a.exprId) || !known.contains(a)
    }.foreach { a =>
      throw StreamJoinErrors.unsupportedCondition(
        join.origin,
        condition,
        s"the column ${a.name}, which tells of a change and is no part of its row",
        "a filter below fromChangelog, or the condition without it"
      )
    }
    condition.foreach {
      case e @ (_: SubqueryExpression | _: PythonFuncExpression) =>
        throw StreamJoinErrors.unsupportedCondition(
          join.origin,
          e,
          "a sub-query or a Python function",
          "it as a column of one of the inputs"
        )
      case _: CommonExpressionRef =>
      case e if !e.deterministic || e.containsPattern(CURRENT_LIKE) && e.children.isEmpty =>
        throw StreamJoinErrors.unsupportedCondition(
          join.origin,
          e,
          "a value that differs from batch to batch, so that a pair would not end as it began",
          "a column of one of the inputs"
        )
      case _ =>
    }
  }

}
