package org.apache.spark.sql.streamjoin.logical.resolve.asof

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.{ConditionBounds, FoundBound, TimeUnit}
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns
import org.apache.spark.sql.streamjoin.spark.TimestampAddInterval

/**
 * The event times by which an as-of join finds the last rows.
 *
 * @param probe the event time of the probe side
 * @param build the event time of the build side
 * @param uppers the conjuncts that bound the time of a build row from above; empty: the time of the
 *   probe row does
 */
private[resolve] final case class AsOfTimes(
    probe: Attribute,
    build: Attribute,
    uppers: Seq[FoundBound]
) {

  /** By how much a build row may be later than the probe row, in the unit of the times. */
  def reach: Long = uppers.map(_.slack).minOption.getOrElse(0L)

  /** Why these times are refused, and what to write instead. */
  def misfit: Option[(String, String)] =
    if (TimeUnit.of(probe.dataType) != TimeUnit.of(build.dataType))
      Some((
        s"${ColumnNames.of(probe)} is ${probe.dataType.sql} and ${ColumnNames.of(build)} " +
          s"${build.dataType.sql}",
        "Give both inputs an event time of the same type"
      ))
    else
      uppers.find(!AsOfTimes.isExact(_)).map { b =>
        val (days, instead) =
          if (b.conjunct.exists(_.isInstanceOf[TimestampAddInterval]))
            (
              s": in the time zone ${SQLConf.get.sessionLocalTimeZone} a day has 23 to 25 hours",
              "add an interval of less than a day to one side, or set spark.sql.session.timeZone to UTC"
            )
          else ("", "add an interval to one side")
        (
          s"${ColumnNames.sql(b.conjunct)} does not compare the event times at a constant distance$days",
          s"Write ${ColumnNames.of(build)} <= ${ColumnNames.of(probe)}, or $instead. Filter the " +
            "result by all other conditions"
        )
      }
}

private[resolve] object AsOfTimes {

  /**
   * Chooses an event time of each side. If an input has several, the condition decides: it compares
   * two of them. If it does not decide, the names of the candidates are returned on the left.
   *
   * @param byCondition whether a conjunct may bound the build rows from above, instead of the time
   *   of the probe row
   * @param ofProbe the candidates of the probe side
   */
  def of(
      condition: Expression,
      probe: LogicalPlan,
      build: LogicalPlan,
      byCondition: Boolean,
      ofProbe: Seq[Attribute]
  ): Either[Seq[String], AsOfTimes] = {
    val compared = comparisons(condition, probe, build, AttributeSet(ofProbe))
    val uppers = if (byCondition) compared.filter(isUpper(_, build)) else Nil
    def pairs(bounds: Seq[FoundBound]) = bounds.map { b =>
      if (isUpper(b, build)) (b.later, b.earlier) else (b.earlier, b.later)
    }.distinct
    (ofProbe, in(build), pairs(uppers), pairs(compared)) match {
      case (_, _, Seq((p: Attribute, b: Attribute)), _)   => Right(AsOfTimes(p, b, uppers))
      case (Seq(p), Seq(b), Nil, _)                       => Right(AsOfTimes(p, b, uppers))
      case (_, _, Nil, Seq((p: Attribute, b: Attribute))) => Right(AsOfTimes(p, b, uppers))
      case (_, ofBuild, _, _) =>
        Left(Seq(ofProbe, ofBuild).filter(_.length > 1).flatten.map(ColumnNames.of))
    }
  }

  /** The event times of an input, except the windows of an aggregation. */
  def in(input: LogicalPlan): Seq[Attribute] =
    TimeColumns.watermarked(input).filterNot(a => TimeUnit.isWindow(a.dataType))

  /** The bounds of the condition between an event time of each side, except equalities. */
  private def comparisons(
      condition: Expression,
      probe: LogicalPlan,
      build: LogicalPlan,
      ofProbe: AttributeSet
  ): Seq[FoundBound] = {
    val ofBuild = AttributeSet(in(build))
    ConditionBounds
      .of(condition, probe.outputSet, build.outputSet, ofProbe ++ ofBuild)
      .found
      .filter(b => Seq(b.later, b.earlier).forall(_.isInstanceOf[Attribute]))
      .filter(b => isUpper(b, build) || isUpper(b, probe))
      .filter(b => !b.conjunct.isInstanceOf[EqualTo] && !b.conjunct.isInstanceOf[EqualNullSafe])
  }

  /** Whether a bound limits the times of the input from above. */
  private def isUpper(b: FoundBound, input: LogicalPlan): Boolean = {
    val (later, earlier) = (b.later.references, b.earlier.references)
    earlier.subsetOf(input.outputSet) && !later.subsetOf(input.outputSet)
  }

  /** Whether a conjunct is one comparison at a constant distance. */
  def isExact(b: FoundBound): Boolean =
    !b.widened && b.conjunct.isInstanceOf[BinaryComparison]
}
