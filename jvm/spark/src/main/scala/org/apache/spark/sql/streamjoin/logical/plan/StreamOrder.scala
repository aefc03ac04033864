package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.times.{
  BaseColumn,
  HasTimeColumns,
  TimeColumns,
  TimeExpression
}

import io.streamjoin.watermark.WatermarkPlan

/**
 * The rows of a stream in ascending order of an event time, over the whole query or in each partition of
 * it: each is held back until nothing can come any more that belongs before it.
 *
 * @param order the time first, ascending; then what rows of one time are sorted by
 * @param name what the person calls the time
 * @param column what the metrics call it
 * @param scope how far the order reaches
 * @param whole whether rows of one time wait until all of them are there, and come out in one batch
 * @param zoned what of the time depends on the time zone of the session; as in [[StreamJoinInput]]
 * @param sources identities of the sources of its rows; as in [[StreamJoinInput]]
 * @param claimed the order as it was asked for
 */
case class StreamOrder(
    order: Seq[SortOrder],
    name: String,
    column: String,
    scope: OrderScope,
    whole: Boolean,
    zoned: Seq[ZonedPart],
    sources: Seq[String],
    claimed: ClaimedOrder,
    child: LogicalPlan
) extends UnaryNode
    with HasTimeColumns {

  /** The time by which the rows are ordered. */
  def time: Expression = order.head.child

  override def output: Seq[Attribute] = child.output

  override protected def stringArgs: Iterator[Any] =
    Iterator(order, name, column, scope, whole, child)

  override def maxRows: Option[Long] = child.maxRows

  /** That of each partition. A window counts as its end, by which Spark does not sort. */
  override def outputOrdering: Seq[SortOrder] =
    if (TimeUnit.isWindow(time.dataType)) Nil else order

  /** Where watermarks start, and how that of the time comes about; valid once resolved. */
  @transient lazy val watermark: (Seq[BaseColumn], Option[WatermarkPlan]) = {
    val times = TimeColumns.of(child)
    (times.bases, TimeExpression.watermark(time, times))
  }

  /** Rows come out when the time's own watermark lets them, later than by those of other columns. */
  override def timeColumns: TimeColumns =
    TimeColumns.of(child).among(Seq(time).collect { case a: Attribute => a })

  override protected def withNewChildInternal(newChild: LogicalPlan): StreamOrder =
    copy(child = newChild)
}

/** How far an order reaches, from batch to batch in any case. */
sealed trait OrderScope

object OrderScope {

  /** Over all partitions, each of which is above those before it. */
  case object Query extends OrderScope

  /** The same, with all rows of a batch in one partition. */
  case object OnePartition extends OrderScope

  /** Each partition has an order of its own: rows stay where they are, and those of one key together. */
  case object EachPartition extends OrderScope
}

object StreamOrder {

  /** Whether a node hands the rows of its one child on in the order in which they come. */
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

  /** Nodes of Spark's that hand rows to Python and back; their classes differ between versions. */
  private val PythonRows =
    Set("MapInPandas", "MapInArrow", "BatchEvalPython", "ArrowEvalPython", "PythonMapInArrow")
}
