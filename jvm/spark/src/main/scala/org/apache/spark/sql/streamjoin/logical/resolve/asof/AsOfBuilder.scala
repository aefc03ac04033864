package org.apache.spark.sql.streamjoin.logical.resolve.asof

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.{NamedTime, Tagged}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.AliasedColumn
import org.apache.spark.sql.streamjoin.logical.plan.changes.{ChangelogMarks, Versions}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  AsOfJoin,
  JoinKind,
  LastRows,
  RelationWindow,
  StreamJoinHint
}
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, JoinTypes, LateRows}
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.Changelogs
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.StreamJoinBuilder
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.{JoinRefusals, MissingWatermark}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{LateRowsBelow, Refusal, ZonedInput}

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.join.asof.AsOfBounds
import io.streamjoin.model.{BySide, JoinType, Side}

/**
 * Builder of an [[AsOfJoin]] from a join that Spark has resolved, if the query asks for the last
 * rows of one input. It returns a refusal if the join cannot be an as-of join.
 */
private[streamjoin] final class AsOfBuilder(join: Join) {

  /** @param late the late rows that the join emits */
  def build(late: Option[LateRows]): Either[Refusal, AsOfJoin] = for {
    window <- lastRows
    (build, count) = window
    probe = build.other
    _ <- misfit.toLeft(())
    joinType <- typeOf(probe)
    plain = StreamJoinHint.removed(join)
    l <- StreamJoinBuilder.bounded(LastRows.off(plain.left))
    r <- StreamJoinBuilder.bounded(LastRows.off(plain.right))
    bounded = BySide(l, r)
    versioned <- versionsOf(bounded, build, count)
    versions = versioned.map(_.versions)
    inputs = ZonedInput.joined(
      BySide.of(side => versioned.filter(_ => side == build).fold(bounded(side))(_.plan))
    )
    BySide(left, right) = inputs
    condition = PlainCondition.of(join.condition.getOrElse(Literal.TrueLiteral))
    _ <- JoinRefusals.ofCondition(join, condition).map(Refusal(_)).toLeft(())
    _ <- Side.both.flatMap(ofInput(_, inputs, versions)).headOption.toLeft(())
    times <- timesOf(condition, inputs(probe), inputs(build))
    aged <- VersionTtl.within(join, condition, times, build, versions)
    pair = Side.both.map(side => if (side == probe) times.probe else times.build)
    made = withTolerance(AsOfJoin(
      left,
      right,
      joinType,
      aged,
      pair.map(NamedTime.of(_, left, right)),
      AsOfBounds(probe, count, times.reach, None),
      StreamJoinHint.options(join).getOrElse(JoinOptions()),
      versions,
      late.map(_.copy(below = Seq(left, right).flatMap(LateRowsBelow.columns))),
      AliasedColumn.of(aged.references ++ AttributeSet(pair), left, right)
    ))
    _ <- beyond(made, times).toLeft(())
    _ <- AsOfCriteria.misfit(join, made, times).toLeft(())
    _ <- ofKey(made).toLeft(())
  } yield made

  /** The build side, and how many of its last rows match a probe row. */
  private def lastRows: Either[Refusal, (Side, Int)] = {
    val windows = Side.both.zip(join.children).flatMap { case (side, input) =>
      LastRows.on(input).filterNot(_.form == LastRows.ByOption).map(side -> _.count)
    }
    windows match {
      case Seq(one) if !byOption => Right(one)
      case Nil                   => Right(Side.Right -> 1)
      case _ =>
        Left(refused(
          "the join requests the last rows of an input more than once",
          "Request the last rows of one input only, for the rows of the other input"
        ))
    }
  }

  private def byOption: Boolean = StreamJoinHint.options(join).exists(_.last)

  /** Refuses a join with parts that as-of joins do not support. */
  private def misfit: Option[Refusal] =
    if (join.condition.isEmpty)
      Some(refused(
        "the join has no condition",
        "Write ON with the equality of the keys, or ON true to ignore keys"
      ))
    else
      JoinRefusals.ofTable(join).map(Refusal(_))
        .orElse(Option.when(join.children.exists(RelationWindow.on(_).nonEmpty))(refused(
          "the other input has a window of time",
          "Remove that window, or compare the times of both inputs in ON instead of the last rows"
        )))
        .orElse(JoinKind.AsOf.misfit(join).map(Refusal(_)))

  private def typeOf(probe: Side): Either[Refusal, JoinType] = {
    val fitting: Set[JoinType] =
      if (probe == Side.Right) Set(JoinType.Inner, JoinType.RightOuter)
      else Set(JoinType.Inner, JoinType.LeftOuter, JoinType.LeftSemi, JoinType.LeftAnti)
    JoinTypes.of(join.joinType).filter(fitting).toRight(
      refused(
        s"a ${join.joinType.sql} join would emit rows of the ${probe.other.name} input that " +
          "were never the last rows, or only columns of that input",
        s"The last rows of the ${probe.other.name} input support these join types: " +
          fitting.toSeq.map(_.name).sorted.mkString(", ")
      )
    )
  }

  private def ofInput(
      side: Side,
      inputs: BySide[LogicalPlan],
      versions: Option[Versions]
  ): Option[Refusal] = {
    val input = inputs(side)
    val ofChanges =
      if (versions.exists(v => input.outputSet.contains(v.deleted)))
        Changelogs.undeclared(join, side, input)
      else if (ChangelogMarks.changesWithin(input) && !ChangelogMarks.areChanges(input))
        Some(Refusal(ChangelogErrors.changeTypeDropped(
          join.origin,
          s"the ${side.name} input",
          input.output.map(_.name)
        )))
      else Changelogs.refusal(join, side, input)
    ofChanges.orElse {
      if (LateRowsBelow.reach(input))
        Some(refused(
          s"a join below emits late rows, on the ${side.name} side",
          "Filter them out by late IS NULL first"
        ))
      else if (AsOfTimes.in(input).isEmpty)
        Some(Refusal(MissingWatermark.refusal(join.origin, side, inputs, join.condition)))
      else None
    }
  }

  /** The versions of a build side that is a changelog. */
  private def versionsOf(
      inputs: BySide[LogicalPlan],
      build: Side,
      count: Int
  ): Either[Refusal, Option[VersionedInput]] =
    if (!ChangelogMarks.areChanges(inputs(build))) Right(None)
    else if (count > 1)
      Left(refused(
        s"the query requests the last $count rows of a changelog, but only one version is valid " +
          "at a time",
        "Write OVER (ROWS 1 PRECEDING), or FOR SYSTEM_TIME AS OF"
      ))
    else
      VersionedInput.of(inputs(build), inputs(build.other))
        .left.map { case (reason, instead) => refused(reason, instead) }
        .map(Some(_))

  /** All versions of a key must be in one partition, whatever else the condition compares. */
  private def ofKey(made: AsOfJoin): Option[Refusal] = for {
    versions <- made.versions
    build = made.bounds.build
    compared = made.equiKeys.flatMap(k => versions.keyColumn(k.of(build))).map(_.exprId)
    missing = versions.key.filterNot(a => compared.contains(a.exprId))
    if missing.nonEmpty
  } yield {
    val names = missing.map(a =>
      ColumnNames.among(made.input(build).output, a)
        .getOrElse(ColumnNames.of(a))
    )
    refused(
      s"no equality of the condition has ${names.mkString(", ")} of the key of the ${build.name} " +
        s"input, ${versions.key.map(_.name).mkString(", ")}: a row could match versions of " +
        "several keys",
      s"Write ${names.map(n => s"$n = <column of the ${build.other.name} input>").mkString(" AND ")} " +
        "in the condition, without a function of it"
    )
  }

  private def timesOf(
      condition: Expression,
      probe: LogicalPlan,
      build: LogicalPlan
  ): Either[Refusal, AsOfTimes] = {
    val byCondition = byOption || AsOfCriteria.has(join)
    for {
      mayBe <- probeTimes(probe, build)
      times <- AsOfTimes.of(condition, probe, build, byCondition, mayBe).left.map { names =>
        refused(
          s"the inputs have several event times, ${names.mkString(" and ")}",
          "Compare only two of them in the condition: q.t <= t.t"
        )
      }
      _ <- times.misfit
        .map { case (reason, instead) => refused(reason, instead) }
        .toLeft(())
    } yield times
  }

  /**
   * The event time of the probe side that `FOR SYSTEM_TIME AS OF` names, or all of its event times.
   */
  private def probeTimes(
      probe: LogicalPlan,
      build: LogicalPlan
  ): Either[Refusal, Seq[Attribute]] = {
    val all = AsOfTimes.in(probe)
    def isOfBoth(name: Seq[String]) =
      Seq(probe, build).forall(_.resolve(name, SQLConf.get.resolver).nonEmpty)
    join.children.flatMap(LastRows.on(_)).map(_.form).collectFirst {
      case LastRows.TimeOfRow(name) => name
    } match {
      case None => Right(all)
      case Some(name) if isOfBoth(name) =>
        Left(refused(
          s"${ColumnNames.written(name)} in FOR SYSTEM_TIME AS OF is a column of both inputs",
          s"Write it by the name of the other input, ${all.map(ColumnNames.of).mkString(" or ")}"
        ))
      case Some(name) =>
        probe.resolve(name, SQLConf.get.resolver)
          .collect { case a: Attribute if all.exists(_.exprId == a.exprId) => Seq(a) }
          .toRight(refused(
            s"${ColumnNames.written(name)} in FOR SYSTEM_TIME AS OF is not an event time of the " +
              "other input",
            s"Write ${all.map(ColumnNames.of).mkString(" or ")} there, or impose an order on " +
              "the column"
          ))
    }
  }

  /** Adds how old a match may be, by the condition and by the conditions of joins below. */
  private def withTolerance(made: AsOfJoin): AsOfJoin = {
    val found = made.analysis
    def column(side: Side) = found.expressions.indexWhere(_.semanticEquals(made.time(side)))
    val slack = found.bounds.slack(column(made.bounds.build), column(made.bounds.probe))
    val tolerance = Option.when(slack != JoinBounds.Unbounded)(slack)
    Tagged(join)(made.copy(bounds = made.bounds.copy(tolerance = tolerance)))
  }

  /**
   * Refuses a condition that only build rows after the probe row can satisfy: an as-of join
   * searches the rows before it.
   */
  private def beyond(made: AsOfJoin, times: AsOfTimes): Option[Refusal] = {
    val (p, b) = (made.timeName(made.bounds.probe), made.timeName(made.bounds.build))
    Option.when(
      times.uppers.isEmpty && made.bounds.tolerance.exists(_ <= 0) && !atOneTime(made)
    )(refused(
      s"by the condition $b is not before $p, but an as-of join looks up the last rows before it",
      s"Write $b <= $p, or write a join with bounds on both sides, which matches all rows after it"
    ))
  }

  private def atOneTime(made: AsOfJoin): Boolean = made.analysis.conjuncts.exists {
    case e @ (_: EqualTo | _: EqualNullSafe) => made.times.forall(e.references.contains)
    case _                                   => false
  }

  private def refused(reason: String, instead: String): Refusal =
    AsOfCriteria.refused(join, reason, instead)
}
