package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.streamjoin.logical.plan.NamedTime
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{
  AliasedColumn,
  JoinAnalysis,
  JoinQuestion
}
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, LateRows}
import org.apache.spark.sql.streamjoin.logical.times.{DistinctAttributes, HasTimeColumns}

import io.streamjoin.model.{BySide, JoinType, Side}

/**
 * Logical node of a stream-to-stream join of this project, of any [[JoinKind]].
 *
 * Code that treats the kinds differently asks the node instead of matching on its class.
 */
private[streamjoin] trait JoinNode extends BinaryNode with HasTimeColumns {

  def kind: JoinKind

  def joinType: JoinType

  /** Spark 4.3 asks each node, and checkpoints the progress of a stateful query with its batches. */
  def isStateful: Boolean = true

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

  /**
   * The session time zones that its bounds depend on, and those of joins below. Valid once
   * resolved.
   */
  final def zones: Set[String] = if (kind.byEventTime) analysis.zones else Set.empty

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

  /**
   * Columns of both inputs as the join type emits them, and the column of late rows.
   *
   * @param marked a column with the event-time mark that it has above the join
   */
  protected final def emittedWithLate(columns: BySide[Seq[Attribute]])(
      marked: Attribute => Attribute
  ): Seq[Attribute] = {
    val all = emitted(columns)
    // a late row only has columns of its own input
    val nullable = if (late.isEmpty) all else all.map(_.withNullability(true))
    nullable.map(a => marked(DistinctAttributes.unmarked(a))) ++ late.map(_.column)
  }

  override def producedAttributes: AttributeSet = AttributeSet(late.map(_.column))

  /** Omits `aliased`, which repeats columns of the condition and is the last parameter. */
  override protected def stringArgs: Iterator[Any] = productIterator.take(productArity - 1)

  override lazy val resolved: Boolean = childrenResolved && expressions.forall(_.resolved) &&
    left.outputSet.intersect(right.outputSet).isEmpty

  private def question: JoinQuestion = JoinQuestion(
    known(left),
    known(right),
    joinType,
    AliasedColumn.restored(condition, aliased),
    times.zip(names),
    children.map(AliasedColumn.ofInput(_, aliased))
  )

  private def known(input: LogicalPlan): JoinQuestion.Input =
    JoinQuestion.Input.of(input, input.collect { case j: JoinNode => j.zones }.flatten.toSet)

  /**
   * Keys, bounds, time zones and watermarks that follow from the condition. Valid once resolved.
   */
  @transient final lazy val analysis: JoinAnalysis = {
    val current = question
    val known = getTagValue(JoinNode.Analysis).filter(_.question == current)
    known.getOrElse {
      val analysis = JoinAnalysis.of(current)
      setTagValue(JoinNode.Analysis, analysis)
      analysis
    }
  }
}

private object JoinNode {

  /**
   * The last analysis of a node, or of the node that it is a copy of: Spark copies tags. The
   * optimizer copies a join many times, mostly with the same condition and inputs.
   */
  val Analysis: TreeNodeTag[JoinAnalysis] = TreeNodeTag("streamjoin.analysis")
}
