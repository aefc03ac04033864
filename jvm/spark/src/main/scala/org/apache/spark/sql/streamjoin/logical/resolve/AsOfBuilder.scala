package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.{
  ConditionBounds,
  FoundBound,
  PlainCondition,
  TimeUnit
}
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.{
  AliasedColumn,
  AsOfJoin,
  KeyedWatermarks,
  LastRows,
  RelationWindow,
  StreamJoin,
  StreamJoinHint
}
import org.apache.spark.sql.streamjoin.logical.times.{DistinctAttributes, TimeColumns}

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.join.asof.AsOfBounds
import io.streamjoin.model.{JoinType, Side}

/** Makes an [[AsOfJoin]] of a join that Spark has resolved and one of whose inputs is [[LastRows]]. */
private[streamjoin] object AsOfBuilder {

  /** @throws StreamJoinAnalysisException if it cannot be */
  def build(join: Join): AsOfJoin = {
    val sides = Side.both.zip(join.children)
    val byOption = StreamJoinHint.on(join).exists(_.last)
    val windows = sides.flatMap { case (s, input) => LastRows.on(input).map(l => s -> l.count) }
    val (build, count) = windows match {
      case Seq(one) if !byOption => one
      case Nil                   => Side.Right -> 1
      case _ =>
        throw refused(
          join,
          "it is said twice which input is met by its last rows",
          "Say it of one input, and leave the other whole: each of its rows meets the last rows"
        )
    }
    val probe = build.other
    if (join.condition.isEmpty) {
      throw refused(
        join,
        "the join has no condition",
        "Write ON with the equality of the keys, or ON true for the last rows of all"
      )
    }
    for ((side, input) <- sides if !input.isStreaming)
      throw StreamJoinErrors.staticInput(join.origin, side.name, input.output.map(ColumnNames.of))
    if (sides.exists { case (_, input) => RelationWindow.on(input).nonEmpty }) {
      throw refused(
        join,
        "the other input has a window of time",
        "Leave that window out, or compare the times of both inputs in ON instead of the last rows"
      )
    }
    StateTtl.misfitOfEventTime(join).foreach(throw _)
    for (options <- StreamJoinHint.on(join)) {
      if (options.emitLate) {
        throw refused(
          join,
          "late rows are to come out of it",
          "Leave late = 'emit' out: they are counted"
        )
      }
      if (options.retention.nonEmpty) {
        throw refused(
          join,
          "it has a retention",
          "Say in the condition how old a match may be, as in q.t >= t.t - INTERVAL '10' MINUTE"
        )
      }
    }
    assembled(join, joinType(join, probe), probe, count, byOption)
  }

  private def refused(join: Join, reason: String, instead: String): StreamJoinAnalysisException =
    StreamJoinErrors.unsupportedAsOf(join.origin, reason, instead)

  private def joinType(join: Join, probe: Side): JoinType = {
    val fitting: Set[JoinType] =
      if (probe == Side.Right) Set(JoinType.Inner, JoinType.RightOuter)
      else Set(JoinType.Inner, JoinType.LeftOuter, JoinType.LeftSemi, JoinType.LeftAnti)
    StreamJoin.typeOf(join.joinType).filter(fitting).getOrElse(
      throw refused(
        join,
        s"a ${join.joinType.sql} join would emit rows of the ${probe.other.name} input that were " +
          "never the last, or columns of it alone",
        s"With the last rows of the ${probe.other.name} input it may be " +
          fitting.toSeq.map(_.name).sorted.mkString(", ")
      )
    )
  }

  /** @param byCondition whether the condition may say up to when, instead of the time of the probe row */
  private def assembled(
      join: Join,
      joinType: JoinType,
      probe: Side,
      count: Int,
      byCondition: Boolean
  ): AsOfJoin = {
    val plain = StreamJoinHint.changed(join)(_.child)
    def bounded(input: LogicalPlan) = StreamJoinBuilder
      .bounded(LastRows.off(input))
      .fold(refusal => throw refusal.error, identity)
    val (l, r) = (bounded(plain.left), bounded(plain.right))
    val left = ZonedInput.joined(KeyedWatermarks.of(DistinctAttributes.keep(l, r)))
    val right = ZonedInput.joined(KeyedWatermarks.of(DistinctAttributes.keep(r, l)))
    val condition = PlainCondition.of(join.condition.getOrElse(Literal.TrueLiteral))
    JoinRefusals.ofCondition(join, condition).foreach(throw _)
    val inputs = Map[Side, LogicalPlan](Side.Left -> left, Side.Right -> right)
    for (side <- Side.both; input = inputs(side)) {
      Changelogs.refusal(join, side, input).foreach(refusal => throw refusal.error)
      if (LateRows.reach(input)) {
        throw refused(
          join,
          s"late rows come out of a join below, on the ${side.name} side",
          "Filter them out by late IS NULL first"
        )
      }
      if (times(input).isEmpty) {
        throw MissingWatermark.refusal(join.origin, side, left, right, join.condition)
      }
    }
    val compared = comparisons(condition, inputs(probe), inputs(probe.other))
    val uppers = if (byCondition) compared.filter(isUpper(_, inputs(probe.other))) else Nil
    val (probeTime, buildTime) = chosen(join, probe, inputs, uppers, compared)
    if (TimeUnit.of(probeTime.dataType) != TimeUnit.of(buildTime.dataType)) {
      throw refused(
        join,
        s"${ColumnNames.of(probeTime)} is ${probeTime.dataType.sql} and ${ColumnNames.of(buildTime)} " +
          s"${buildTime.dataType.sql}",
        "Give both inputs an event time of one type"
      )
    }
    uppers.find(!isExact(_)).foreach { b =>
      throw refused(
        join,
        s"${ColumnNames.sql(b.conjunct)} does not compare the event times at a constant distance",
        s"Write ${ColumnNames.of(buildTime)} <= ${ColumnNames.of(probeTime)}, or that with an interval " +
          "added; what else there is to ask can be asked of the result"
      )
    }
    val reach = uppers.map(_.slack).minOption.getOrElse(0L)
    val pair = Side.both.map(side => if (side == probe) probeTime else buildTime)
    val whole = AsOfJoin(
      left,
      right,
      joinType,
      condition,
      pair,
      pair.zip(Side.both).map { case (a, side) => named(a, side, left.output ++ right.output) },
      AsOfBounds(probe, count, reach, None),
      StreamJoinHint.on(join).exists(_.partitionOrder),
      AliasedColumn.of(condition.references ++ AttributeSet(pair), left, right)
    )
    val made = whole.copy(bounds = whole.bounds.copy(tolerance = tolerance(whole)))
    made.copyTagsFrom(join)
    if (uppers.isEmpty && made.bounds.tolerance.exists(_ <= 0) && !atOneTime(made)) {
      def name(side: Side) = made.names(side.index)
      val (p, b) = (name(probe), name(probe.other))
      throw refused(
        join,
        s"by the condition $b is not before $p, and the last rows are looked for before it",
        s"Write $b <= $p; or leave it to a join with bounds on both sides to meet all rows behind it"
      )
    }
    made
  }

  private def atOneTime(join: AsOfJoin): Boolean = join.analysis.conjuncts.exists {
    case e @ (_: EqualTo | _: EqualNullSafe) => join.times.forall(e.references.contains)
    case _                                   => false
  }

  private def named(a: Attribute, side: Side, among: Seq[Attribute]): String =
    ColumnNames.among(among, a).getOrElse(s"${side.name}.${ColumnNames.of(a)}")

  /** The event times of an input; a window of an aggregation is none. */
  private def times(input: LogicalPlan): Seq[Attribute] = {
    val known = TimeColumns.of(input)
    input.output.filter(a => known.isWatermarked(a) && !TimeUnit.isWindow(a.dataType))
  }

  /** What the condition says of an event time of the one and one of the other side. */
  private def comparisons(
      condition: Expression,
      probe: LogicalPlan,
      build: LogicalPlan
  ): Seq[FoundBound] = {
    val (ofProbe, ofBuild) = (AttributeSet(times(probe)), AttributeSet(times(build)))
    ConditionBounds
      .of(condition, probe.outputSet, build.outputSet, ofProbe ++ ofBuild)
      .found
      .filter(b => Seq(b.later, b.earlier).forall(_.isInstanceOf[Attribute]))
      .filter(b => isUpper(b, build) || isUpper(b, probe))
      .filter(b => !b.conjunct.isInstanceOf[EqualTo] && !b.conjunct.isInstanceOf[EqualNullSafe])
  }

  /** Whether a comparison says up to when rows of the input count. */
  private def isUpper(b: FoundBound, input: LogicalPlan): Boolean = {
    val (later, earlier) = (b.later.references, b.earlier.references)
    earlier.subsetOf(input.outputSet) && !later.subsetOf(input.outputSet)
  }

  private def isExact(b: FoundBound): Boolean =
    !b.widened && b.conjunct.isInstanceOf[BinaryComparison]

  /** The times of the probe and of the build side: of several those that are compared. */
  private def chosen(
      join: Join,
      probe: Side,
      inputs: Side => LogicalPlan,
      uppers: Seq[FoundBound],
      compared: Seq[FoundBound]
  ): (Attribute, Attribute) = {
    def pairs(bounds: Seq[FoundBound]) = bounds.map { b =>
      if (isUpper(b, inputs(probe.other))) (b.later, b.earlier) else (b.earlier, b.later)
    }.distinct
    (times(inputs(probe)), times(inputs(probe.other)), pairs(uppers), pairs(compared)) match {
      case (_, _, Seq((p: Attribute, b: Attribute)), _)   => (p, b)
      case (Seq(p), Seq(b), Nil, _)                       => (p, b)
      case (_, _, Nil, Seq((p: Attribute, b: Attribute))) => (p, b)
      case (ofProbe, ofBuild, _, _) =>
        val names = Seq(ofProbe, ofBuild).filter(_.length > 1).flatten.map(ColumnNames.of)
        throw refused(
          join,
          s"there are several event times, ${names.mkString(" and ")}",
          "Compare the two that are meant, and no others, in the condition: q.t <= t.t"
        )
    }
  }

  /** How old a match may be; as all that the condition says, and joins below have enforced, has it. */
  private def tolerance(join: AsOfJoin): Option[Long] = {
    val found = join.analysis
    def column(side: Side) =
      found.expressions.indexWhere(_.semanticEquals(join.time(side)))
    val slack = found.bounds.slack(column(join.bounds.build), column(join.bounds.probe))
    Option.when(slack != JoinBounds.Unbounded)(slack)
  }
}
