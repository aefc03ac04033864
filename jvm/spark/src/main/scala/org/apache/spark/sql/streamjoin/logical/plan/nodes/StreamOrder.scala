package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, ExpressionSet, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.PassesColumns
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{StreamJoinInput, ZonedPart}
import org.apache.spark.sql.streamjoin.logical.times.{
  BaseColumn,
  HasTimeColumns,
  TimeColumns,
  TimeExpression
}

import io.streamjoin.watermark.WatermarkPlan

/**
 * Logical node of the ordered output: emits the rows of a stream by event time, over the whole
 * query or in each partition. A row is buffered until no earlier row can arrive.
 *
 * @param order the event time, ascending; then the tie-breakers
 * @param name the display name of the time
 * @param scope the rows among which the order holds
 * @param whole whether rows of one time are buffered until all of them have arrived, and are
 *   emitted in one batch
 * @param claimed the order as written in the query
 */
case class StreamOrder(
    order: Seq[SortOrder],
    name: String,
    scope: OrderScope,
    whole: Boolean,
    claimed: ClaimedOrder,
    child: LogicalPlan
) extends PassesColumns
    with HasTimeColumns {

  /** The time by which rows are ordered. */
  def time: Expression = order.head.child

  /** The parts of the time that depend on the session time zone. */
  def zoned: Seq[ZonedPart] = {
    val read = time.references.map(_.name).toSet
    StreamJoinInput.zoned(child).filter(part => read(part.column))
  }

  override protected def stringArgs: Iterator[Any] =
    Iterator(order, name, StreamOrder.column(time), scope, whole, child)

  /** The rows of a batch may satisfy a filter that the buffered rows of earlier batches do not. */
  override protected lazy val validConstraints: ExpressionSet = ExpressionSet()

  /** The order of each partition. A window is ordered by its end, which Spark cannot express. */
  override def outputOrdering: Seq[SortOrder] =
    if (TimeUnit.isWindow(time.dataType)) Nil else order

  /**
   * The source columns of the watermarks, and the watermark plan of the time. Valid once resolved.
   */
  @transient lazy val watermark: (Seq[BaseColumn], Option[WatermarkPlan]) = {
    val times = TimeColumns.of(child)
    (times.bases, TimeExpression.watermark(time, times))
  }

  /**
   * The watermark of the time decides when rows are emitted. The other columns have no watermark
   * above, because rows are emitted later than their watermarks allow.
   */
  override def timeColumns: TimeColumns =
    TimeColumns.of(child).among(Seq(time).collect { case a: Attribute => a })

  override protected def withNewChildInternal(newChild: LogicalPlan): StreamOrder =
    copy(child = newChild)
}

/** The rows among which an order holds. It always continues from batch to batch. */
sealed trait OrderScope

object OrderScope {

  /** All rows of the query: each partition is above the ones before it. */
  case object Query extends OrderScope

  /** As [[Query]], with all rows of a batch in one partition. */
  case object OnePartition extends OrderScope

  /**
   * The rows of each partition. Rows stay in their partition, so that a key stays in one partition.
   */
  case object EachPartition extends OrderScope
}

object StreamOrder {

  /** The name of a time in metrics. */
  private[streamjoin] def column(time: Expression): String = time match {
    case a: Attribute => a.name
    case _            => "rowtime"
  }

  /** Whether a node preserves the order of the rows of its child. */
  def isKeptBy(plan: LogicalPlan): Boolean = {
    import org.apache.spark.sql.catalyst.plans.logical._
    plan match {
      case _: Project | _: Filter | _: SubqueryAlias | _: View | _: GlobalLimit | _: LocalLimit |
          _: Generate | _: CollectMetrics | _: ResolvedHint | _: MapElements | _: MapPartitions |
          _: TypedFilter | _: SerializeFromObject | _: DeserializeToObject | _: StreamJoinInput |
          _: ImposeOrder | _: EventTimeWatermark =>
        true
      case Repartition(1, _, _) => true
      case _                    => PythonRows.contains(plan.nodeName)
    }
  }

  /** A plan, and the plans below it that give it the order of its rows. */
  def orderedBy(plan: LogicalPlan): Seq[LogicalPlan] =
    plan +: (if (isKeptBy(plan)) plan.children.flatMap(orderedBy) else Nil)

  /** Spark's nodes for Python functions. Their classes differ between versions. */
  private val PythonRows =
    Set("MapInPandas", "MapInArrow", "BatchEvalPython", "ArrowEvalPython", "PythonMapInArrow")
}
