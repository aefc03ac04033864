package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  AttributeSet,
  Expression,
  Literal,
  SortOrder
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalGroupState, NoTimeout}
import org.apache.spark.sql.catalyst.streaming.InternalOutputModes
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streaming.{GroupStateTimeout, OutputMode}
import org.apache.spark.sql.streamjoin.spark.{FlatMapGroupsWithStateExec, StatefulOperatorStateInfo}
import org.apache.spark.sql.types.NullType

/**
 * The micro-batch in which a stateful operator runs. All fields are empty while a plan is only
 * explained.
 *
 * @param stateInfo location and version of the state
 * @param timeMs the start time of the batch in the offset log, in milliseconds; a repeated batch
 *   has the same time
 * @param watermarkForLateEvents Spark's watermark at the input of the operator at the end of the
 *   previous batch, in milliseconds
 * @param watermarkForEviction the same at the end of this batch
 */
final case class BatchInfo(
    stateInfo: Option[StatefulOperatorStateInfo] = None,
    timeMs: Option[Long] = None,
    watermarkForLateEvents: Option[Long] = None,
    watermarkForEviction: Option[Long] = None
)

/**
 * Stateful physical operator with two inputs. Spark's planner of micro-batches assigns its
 * [[BatchInfo]].
 *
 * The planner recognizes operators by class. So this class extends one of them, to receive the
 * batch and the state. It hides the parent: none of the parent's code runs, and its product
 * elements are the arguments of the subclass.
 * `docs/internals/decisions/0023-subclass-for-plumbing.md` explains the choice of the parent.
 */
abstract class StatefulBinaryExec(
    leftInput: SparkPlan,
    rightInput: SparkPlan,
    val batch: BatchInfo
) extends FlatMapGroupsWithStateExec(
      StatefulBinaryExec.NoFunction,
      keyDeserializer = Literal(null),
      valueDeserializer = Literal(null),
      initialStateDeserializer = Literal(null),
      groupingAttributes = Nil,
      initialStateGroupAttrs = Nil,
      dataAttributes = Nil,
      initialStateDataAttrs = Nil,
      StatefulBinaryExec.NoObject,
      batch.stateInfo,
      stateEncoder = null,
      stateFormatVersion = 2,
      InternalOutputModes.Append,
      NoTimeout,
      batch.timeMs,
      batch.watermarkForLateEvents,
      batch.watermarkForEviction,
      initialState = rightInput,
      hasInitialState = false,
      skipEmittingInitialStateKeys = false,
      child = leftInput
    ) {

  /** The same operator with other inputs, in another batch. */
  protected def planned(left: SparkPlan, right: SparkPlan, batch: BatchInfo): StatefulBinaryExec

  /** The constructor arguments of the subclass. */
  protected def arguments: IndexedSeq[Any]

  override def productArity: Int = arguments.length

  override def productElement(i: Int): Any = arguments(i)

  /**
   * Consistent with the hash code, which is that of a product. The parent compares its own
   * parameters.
   */
  final override def equals(other: Any): Boolean = other match {
    case o: StatefulBinaryExec => (this eq o) || getClass == o.getClass && arguments == o.arguments
    case _                     => false
  }

  /** The inputs as executed, from which the tasks read. */
  private[physical] def read: Seq[SparkPlan] = children

  override def producedAttributes: AttributeSet = AttributeSet.empty

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(Nil, Nil)

  final override def copy(
      func: (Any, Iterator[Any], LogicalGroupState[Any]) => Iterator[Any],
      keyDeserializer: Expression,
      valueDeserializer: Expression,
      initialStateDeserializer: Expression,
      groupingAttributes: Seq[Attribute],
      initialStateGroupAttrs: Seq[Attribute],
      dataAttributes: Seq[Attribute],
      initialStateDataAttrs: Seq[Attribute],
      outputObjAttr: Attribute,
      stateInfo: Option[StatefulOperatorStateInfo],
      stateEncoder: ExpressionEncoder[Any],
      stateFormatVersion: Int,
      outputMode: OutputMode,
      timeoutConf: GroupStateTimeout,
      batchTimestampMs: Option[Long],
      eventTimeWatermarkForLateEvents: Option[Long],
      eventTimeWatermarkForEviction: Option[Long],
      initialState: SparkPlan,
      hasInitialState: Boolean,
      skipEmittingInitialStateKeys: Boolean,
      child: SparkPlan
  ): StatefulBinaryExec =
    planned(
      child,
      initialState,
      BatchInfo(
        stateInfo,
        batchTimestampMs,
        eventTimeWatermarkForLateEvents,
        eventTimeWatermarkForEviction
      )
    )

  final override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): StatefulBinaryExec = planned(newLeft, newRight, batch)
}

private object StatefulBinaryExec {

  private val NoFunction: (Any, Iterator[Any], LogicalGroupState[Any]) => Iterator[Any] =
    (_, _, _) => Iterator.empty

  private val NoObject: Attribute = AttributeReference("none", NullType)()
}
