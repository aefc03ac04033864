package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan}
import org.apache.spark.sql.streamjoin.logical.times.HasTimeColumns

import io.streamjoin.model.{BySide, JoinType, Side}

/**
 * Logical node of a stream-to-stream join of this project, of any [[JoinKind]].
 *
 * Code that treats the kinds differently asks the node instead of matching on its class.
 */
private[streamjoin] trait JoinNode extends BinaryNode
    with Analyzed
    with DependsOnZones
    with HasTimeColumns {

  def kind: JoinKind

  def joinType: JoinType

  /** The whole condition. */
  def condition: Expression

  /** The event-time columns of the inputs that the join uses. */
  def timed: Seq[NamedTime]

  final def times: Seq[Attribute] = timed.map(_.column)
  final def names: Seq[String] = timed.map(_.name)

  /** The columns of the condition with their aliases in the query. */
  def aliased: Seq[AliasedColumn]

  /** The options of the join. */
  def options: JoinOptions = JoinOptions()

  /** The late rows that the join emits; none: it drops late rows. */
  def late: Option[LateRows] = None

  /**
   * The event time of an output row, if it is the event time of one input; none: it follows from
   * both rows.
   */
  def rowtime: Option[Attribute] = None

  override def zones: Set[String] = if (kind.byEventTime) analysis.zones else Set.empty

  final def input(side: Side): LogicalPlan = BySide(left, right)(side)

  /** The input columns that are NULL in padded output rows. */
  final def padded: Seq[Attribute] =
    Side.both.filter(side => joinType.emits(side) && joinType.preserves(side.other))
      .flatMap(input(_).output)

  /** Columns of both inputs as the join type emits them. */
  protected final def emitted(columns: BySide[Seq[Attribute]]): Seq[Attribute] =
    Side.both.filter(joinType.emits).flatMap { side =>
      if (!joinType.preserves(side.other)) columns(side)
      else columns(side).map(_.withNullability(true))
    }

  override lazy val resolved: Boolean = childrenResolved && expressions.forall(_.resolved) &&
    left.outputSet.intersect(right.outputSet).isEmpty

  override protected final def question: JoinQuestion = JoinQuestion(
    JoinQuestion.Input.of(left),
    JoinQuestion.Input.of(right),
    joinType,
    AliasedColumn.restored(condition, aliased),
    times.zip(names),
    children.map(AliasedColumn.ofInput(_, aliased))
  )
}
