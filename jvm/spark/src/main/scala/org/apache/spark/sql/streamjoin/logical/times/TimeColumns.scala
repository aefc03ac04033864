package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.spark.TransformWithStateInPySpark
import org.apache.spark.sql.types.LongType

import io.streamjoin.watermark.WatermarkPlan

/** `later >= earlier - slack` for each row of a plan in which both columns are present. */
private[streamjoin] final case class TimeFact(later: ExprId, earlier: ExprId, slack: Long)

/**
 * The event-time columns of a plan: how each watermark is computed, and which facts relate the
 * columns.
 *
 * @param bases origins of watermarks, left to right
 * @param columns for each event-time column, how its watermark is computed from those of `bases`
 * @param facts bounds that joins below enforce
 * @param present columns that are never null, although their type is nullable
 * @param padded columns that outer joins below pad with NULL
 * @param matched for a column with a value only in matched rows, the times with a value in these
 *   rows
 * @param imposed whether an order is imposed below, even if its column is not in the output
 * @param lengths lengths of windows of fixed length, in microseconds
 */
private[streamjoin] final case class TimeColumns(
    bases: Seq[BaseColumn],
    columns: Map[ExprId, WatermarkPlan],
    facts: Seq[TimeFact],
    present: Set[ExprId],
    padded: Set[ExprId],
    matched: Map[ExprId, Set[ExprId]],
    imposed: Boolean,
    lengths: Map[ExprId, Long]
) {

  def isWatermarked(a: Attribute): Boolean = columns.contains(a.exprId)

  /** The same for the rows in which a column has a value. */
  def where(column: Attribute): TimeColumns =
    copy(present = present + column.exprId ++ matched.getOrElse(column.exprId, Set.empty))

  /** Adds a column as the origin of a watermark. */
  def withBase(column: Attribute, base: BaseColumn): TimeColumns = copy(
    bases = bases :+ base,
    columns = columns + (column.exprId -> WatermarkPlan.Base(bases.length)),
    imposed = imposed || base.imposed
  )

  /** Retains only these columns as event times. */
  def ofOnly(times: Set[ExprId]): TimeColumns =
    copy(columns = columns.filter { case (id, _) => times(id) })

  /** Retains only properties of these output columns. */
  def among(output: Seq[Attribute]): TimeColumns =
    rename(output.flatMap(a => inExpressions.renamed(a.exprId, a.exprId, a.dataType)))

  /**
   * Derives expressions over these columns. Mostly no field is known, and no struct is inspected.
   */
  @transient private lazy val inExpressions: ProjectedTimes = {
    val ids = columns.keysIterator ++ present ++ padded ++ matched.keysIterator ++
      lengths.keysIterator ++ facts.iterator.flatMap(f => Iterator(f.later, f.earlier))
    new ProjectedTimes(columns, lengths, ids.exists(ProjectedTimes.isField))
  }

  private def shift(by: Int): TimeColumns =
    copy(columns = columns.view.mapValues(_.shift(by)).toMap)

  /** The columns of two inputs, left and right. */
  def ++(right: TimeColumns): TimeColumns = {
    val shifted = right.shift(bases.length)
    TimeColumns(
      bases ++ right.bases,
      columns ++ shifted.columns,
      facts ++ right.facts,
      present ++ right.present,
      padded ++ right.padded,
      matched ++ right.matched,
      imposed || right.imposed,
      lengths ++ right.lengths
    )
  }

  /** The columns that a projection passes on, and the windows that it creates. */
  private def projected(list: Seq[NamedExpression]): TimeColumns = {
    val passed = rename(list.flatMap(inExpressions.passed))
    passed.copy(
      columns = list.flatMap(inExpressions.computed).toMap ++ passed.columns,
      lengths = list.flatMap(inExpressions.lengths).toMap
    )
  }

  /** Adds overlapping windows. Each input row belongs to all windows that contain its time. */
  private def withWindows(
      below: TimeColumns,
      expanded: Seq[(Attribute, Seq[Expression])]
  ): TimeColumns = {
    val windows = for {
      (window, expressions) <- expanded
      if window.metadata.contains(TimeWindow.marker) && TimeUnit.isWindow(window.dataType) &&
        !isWatermarked(window)
      Seq(time) <- Seq(expressions.flatMap(TimeColumns.windowed).distinct)
      plan <- below.columns.get(time.exprId)
    } yield (
      window.exprId,
      WatermarkPlan.windowEnd(plan),
      expressions.map(below.inExpressions.length).distinct
    )
    copy(
      columns = columns ++ windows.map { case (id, plan, _) => id -> plan },
      lengths = lengths ++ windows.collect { case (id, _, Seq(Some(length))) => id -> length }
    )
  }

  private def rename(mapping: Seq[(ExprId, ExprId)]): TimeColumns = {
    val to = mapping.groupMap(_._1)(_._2)
    def renamed(id: ExprId): Seq[ExprId] = to.getOrElse(id, Nil)
    TimeColumns(
      bases,
      columns.flatMap { case (id, p) => renamed(id).map(_ -> p) },
      for (f <- facts; l <- renamed(f.later); e <- renamed(f.earlier))
        yield TimeFact(l, e, f.slack),
      present.flatMap(renamed(_)),
      padded.flatMap(renamed(_)),
      for ((id, times) <- matched; to <- renamed(id)) yield to -> times.flatMap(renamed(_)),
      imposed,
      lengths.flatMap { case (id, length) => renamed(id).map(_ -> length) }
    )
  }
}

/** A node of this project that derives the event times of its own output. */
private[streamjoin] trait HasTimeColumns {

  /** The event-time columns of its output. Valid once resolved. */
  def timeColumns: TimeColumns
}

private[streamjoin] object TimeColumns extends AliasHelper {

  /** The times from which windows are computed. */
  private def windowed(e: Expression): Seq[Attribute] = e.collect {
    case PreciseTimestampConversion(SameColumn(time), _, LongType) => time
  }

  private val none =
    TimeColumns(Nil, Map.empty, Nil, Set.empty, Set.empty, Map.empty, imposed = false, Map.empty)

  /**
   * The event-time columns of a resolved plan.
   *
   * A column passes through a projection unchanged, renamed, in a struct, or as a wider number. A
   * computed column has a watermark in these cases:
   *
   *  - It is the window of an event time, or the end of such a window.
   *  - It is the `window_time` of such a window, or a session, and Spark marks it. The mark alone is
   *    not sufficient: `max(struct(t)).t` has that of `t`.
   *
   * A node that may change columns ends their watermarks.
   *
   * The result is the same for the analyzed and the optimized plan. The analyzed plan decides
   * whether a query is accepted, and the optimized one how it runs.
   */
  def of(plan: LogicalPlan): TimeColumns = plan match {
    case own: HasTimeColumns => own.timeColumns
    case u: Union            => union(u)
    case Project(list, child) =>
      val below = of(child)
      val known = below.projected(list)
      val computed = list.filter(below.inExpressions.isOfWindow).map(_.toAttribute)
      known ++ propagated(
        computed.filter(a => isMarked(a) && !known.isWatermarked(a)),
        below.imposed
      )
    case Expand(projections, output, child) =>
      val below = of(child)
      below
        .among(output)
        .withWindows(below, output.zip(projections.transpose))
    case SparksJoin(j) =>
      val kept = SparksJoin.keptTimes(j)
      propagated(
        j.output.filter(kept.contains),
        imposedBelow(j),
        j.children.map(of(_).lengths).reduce(_ ++ _)
      )
    case a: Aggregate if a.isStreaming => grouped(a)
    case d: Distinct if d.isStreaming  => behind(d)
    // the event time that a stateful operator emits
    case u: UpdateEventTimeWatermarkColumn => behind(u)
    case _ if isStateful(plan)             => behind(plan)
    case _ if keepsTimes(plan) => plan.children.map(of).foldLeft(none)(_ ++ _).among(plan.output)
    case w: WithCTE            => of(w.plan)
    case _                     => none.copy(imposed = imposedBelow(plan))
  }

  /** The columns of a plan with a watermark. */
  def watermarked(plan: LogicalPlan): Seq[Attribute] = {
    val times = of(plan)
    plan.output.filter(times.isWatermarked)
  }

  /**
   * The times of an aggregation: its grouping columns, and windows computed from them. The
   * optimizer may have merged a projection into the aggregation.
   */
  private def grouped(a: Aggregate): TimeColumns = {
    val below = of(a.child)
    val ends = a.aggregateExpressions.filter {
      case Alias(field @ GetStructField(w: Attribute, _, _), _) =>
        isMarked(w) && TimeUnit.isWindow(w.dataType) && field.extractFieldName == "end"
      case _ => false
    }
    val computed = a.aggregateExpressions.filter(passed(_).isEmpty).diff(ends)
    val times = a.groupingExpressions.collect { case t: Attribute if isMarked(t) => t }
    val groups = propagated(times, below.imposed)
    val known = groups.projected(computed)
    val marked = a.aggregateExpressions
      .filter(e => isGrouping(e, a) || groups.inExpressions.isOfWindow(e))
      .map(_.toAttribute)
      .filter(o => isMarked(o) && !known.isWatermarked(o))
    propagated(
      marked ++ ends.map(_.toAttribute),
      below.imposed,
      below.projected(a.aggregateExpressions).lengths
    ) ++ (if (known.columns.isEmpty) none else known)
  }

  private def isGrouping(e: Expression, a: Aggregate): Boolean =
    passed(e).nonEmpty || a.groupingExpressions.exists(_.semanticEquals(trimAliases(e)))

  private def imposedBelow(plan: LogicalPlan): Boolean = plan.children.exists(of(_).imposed)

  /** The column whose values an expression of a projection passes on unchanged. */
  private[logical] def passed(e: Expression): Option[Attribute] = e match {
    case Alias(child, _)                                              => passed(child)
    case Cast(child, to, _, _) if TimeUnit.widens(child.dataType, to) => passed(child)
    case other                                                        => SameColumn.unapply(other)
  }

  /**
   * Whether a node of Spark emits each input row in the same batch, any number of times, with
   * unchanged columns. The watermarks of its input are valid for its output.
   *
   * Any other node may buffer rows, as a stateful one does, or change the values of a column.
   */
  private def keepsTimes(plan: LogicalPlan): Boolean = plan match {
    case _: SubqueryAlias | _: View | _: Subquery | _: CTERelationDef => true
    case _: Filter | _: TypedFilter | _: Sample | _: Sort             => true
    case _: GlobalLimit | _: LocalLimit | _: Offset | _: Tail         => true
    case _: RepartitionOperation | _: RebalancePartitions             => true
    case _: ResolvedHint | _: UnresolvedHint | _: CollectMetrics      => true
    case _: EventTimeWatermark | _: PipeOperator                      => true
    case _: Deduplicate | _: DeduplicateWithinWatermark               => true
    case _: Generate | _: LateralJoin                                 => true
    // a stream and a table; see SparksJoin for two streams
    case _: Join => true
    case _       => PythonFunctions.contains(plan.nodeName)
  }

  /** Matched by name, since their classes differ between versions of Spark. */
  private val PythonFunctions =
    Set("BatchEvalPython", "ArrowEvalPython", "BatchEvalPythonUDTF", "ArrowEvalPythonUDTF")

  private[logical] def isStateful(plan: LogicalPlan): Boolean = plan match {
    case _: FlatMapGroupsWithState | _: TransformWithState | _: TransformWithStateInPySpark |
        _: FlatMapGroupsInPandasWithState =>
      true
    case _ => false
  }

  private def union(u: Union): TimeColumns = {
    val inputs = u.children.map { child =>
      val times = of(child)
      times.rename(child.output.zip(u.output).flatMap { case (in, out) =>
        times.inExpressions.renamed(in.exprId, out.exprId, out.dataType)
      })
    }
    val offsets = inputs.scanLeft(0)(_ + _.bases.length)
    val plans = inputs.zip(offsets).map { case (times, offset) => times.shift(offset).columns }
    val ofAll = plans.map(_.keySet).reduce(_ & _)
    none.copy(
      bases = inputs.flatMap(_.bases),
      columns = ofAll.map(id => id -> WatermarkPlan.Least(plans.map(_(id)))).toMap,
      padded = inputs.flatMap(_.padded).toSet,
      imposed = inputs.exists(_.imposed),
      lengths = inputs.map(_.lengths.toSet).reduce(_ & _).toMap
    )
  }

  /**
   * The columns of one of Spark's stateful operators. Its rows lag behind the watermark of the
   * source. Only the watermark that Spark propagates to the next operator is valid for them.
   */
  private def behind(operator: LogicalPlan): TimeColumns =
    propagated(
      operator.output.filter(isMarked),
      imposedBelow(operator),
      operator.children.map(of(_).among(operator.output).lengths)
        .foldLeft(none.lengths)(_ ++ _)
    )

  /** Whether Spark treats a column as an event time. */
  private[logical] def isMarked(a: Attribute): Boolean =
    a.metadata.contains(EventTimeWatermark.delayKey)

  private def propagated(
      columns: Seq[Attribute],
      imposed: Boolean,
      lengths: Map[ExprId, Long] = Map.empty
  ): TimeColumns = {
    val times = columns.filter(a => TimeUnit.of(a.dataType).contains(TimeUnit.Timestamp))
    none.copy(
      bases = times.map(a => BaseColumn.Propagated(a.name, TimeUnit.Timestamp, imposed)),
      columns = times.zipWithIndex.map { case (a, i) => a.exprId -> WatermarkPlan.Base(i) }.toMap,
      imposed = imposed,
      lengths = lengths
    )
  }
}
