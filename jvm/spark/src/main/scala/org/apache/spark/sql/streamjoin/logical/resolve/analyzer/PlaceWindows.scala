package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike, NaturalJoin, UsingJoin}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ImposeOrder,
  JoinKind,
  JoinNode,
  LastRows,
  RelationWindow,
  StreamJoin
}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinWindows
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.{BuiltinJoin, WindowsOfInputs}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.MissingWatermark
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime
import org.apache.spark.sql.streamjoin.logical.times.InputColumns

import io.streamjoin.model.{BySide, Side}

/**
 * Analyzer rule that completes the conditions of joins of streams:
 *
 * - The windows on the inputs of a join become bounds.
 * - The match condition of an `ASOF JOIN` becomes a part of the condition of the join.
 * - The conjuncts of WHERE that reference both inputs are moved into an inner join.
 * - For `FROM a, b WHERE ...`, all conjuncts on its columns are moved.
 *
 * A conjunct is moved to the lowest join that it bounds, even if Spark executes that join. Spark
 * itself would move it in the optimizer only, and a join above would look unbounded before.
 */
object PlaceWindows extends Rule[LogicalPlan] with PredicateHelper with ConjunctsOfWhere {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(JOIN) || !concerns(plan)) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer(placed(plan))

  /** Whether a query has joins that this project executes, or may execute. */
  private def concerns(plan: LogicalPlan): Boolean = BuiltinJoin.isSought || plan.exists {
    case _: RelationWindow | _: LastRows | _: ImposeOrder => true
    case j: JoinNode                                      => j.kind == JoinKind.EventTime
    case _                                                => false
  }

  /** Refuses a window that is not on an input of a join. */
  object Check extends (LogicalPlan => Unit) {
    override def apply(plan: LogicalPlan): Unit =
      WindowsOfInputs.misplaced(plan).foreach(refusal => throw refusal.error)
  }

  /** Whether conjuncts of WHERE above inner joins are still unresolved and may become bounds. */
  def mayBringBounds(plan: LogicalPlan): Boolean = plan match {
    case Filter(condition, child) =>
      val (joined, inputs) = chain(child).partition(isOfInner)
      joined.nonEmpty && inputs.forall(_.resolved) &&
      !joined.exists(_.expressions.exists(Rowtime.isUnqualifiedIn)) &&
      splitConjunctivePredicates(condition).exists(part => !part.resolved && !followsJoin(part))
    case _ => false
  }

  /** Whether a conjunct is no bound, and may be resolved only after the join is built. */
  private def followsJoin(part: Expression): Boolean =
    Rowtime.isUnqualifiedIn(part) || part.exists(_.isInstanceOf[SubqueryExpression])

  /** Inner joins, the nodes between them, and their inputs. */
  private def chain(plan: LogicalPlan): Seq[LogicalPlan] =
    if (isOfInner(plan)) plan +: plan.children.flatMap(chain) else Seq(plan)

  private def placed(plan: LogicalPlan): LogicalPlan = plan match {
    case f @ Filter(condition, child) if isOfInner(child) =>
      val inputs = below(child)
      if (!child.resolved || !inputs.exists(isOfStreams) || mayBringBounds(f))
        f.withNewChildren(Seq(inputs))
      else {
        val (conjuncts, others) = splitConjunctivePredicates(condition).partition(_.resolved)
        val (joined, rest) = distribute(inputs, conjuncts)
        (rest ++ others).reduceOption(And).fold(joined)(Filter(_, joined))
      }
    case j: Join => window(j.mapChildren(placed).asInstanceOf[Join])
    case other   => other.mapChildren(placed)
  }

  private def isInner(j: Join): Boolean = j.joinType.isInstanceOf[InnerLike]

  private def isCross(j: Join): Boolean = isInner(j) && j.condition.isEmpty

  /** Whether conditions on the rows of a plan may be moved into an inner join in it. */
  private def isOfInner(plan: LogicalPlan): Boolean = plan match {
    case j: Join if isInner(j)                 => true
    case j: Join if PreservedInputs.isOuter(j) => j.children.exists(isOfInner)
    case PassesConditions(input, _, _)         => isOfInner(input)
    case _                                     => false
  }

  private def isOfStreams(plan: LogicalPlan): Boolean = plan match {
    case j: Join => hasWindow(j) || j.resolved && JoinKind.of(j).exists(_.byEventTime)
    case _       => false
  }

  private def hasWindow(j: Join): Boolean =
    Seq(j.left, j.right).exists(RelationWindow.on(_).nonEmpty)

  /** Completes the joins below a chain of inner joins. */
  private def below(plan: LogicalPlan): LogicalPlan = plan match {
    case j: Join if isCross(j)     => j.mapChildren(below)
    case j: Join if isInner(j)     => window(j.mapChildren(below).asInstanceOf[Join])
    case j: Join if isOfInner(j)   => window(preserving(j, below))
    case f: Filter                 => placed(f)
    case other if isOfInner(other) => other.mapChildren(below)
    case input                     => placed(input)
  }

  /** Changes the inputs that an outer join preserves, or would preserve with a WHERE above it. */
  private def preserving(j: Join, change: LogicalPlan => LogicalPlan): Join = {
    val preserved =
      if (PreservedInputs.isOuter(j)) j.children else PassesConditions.unapply(j).map(_._1).toSeq
    j.mapChildren(c => if (preserved.exists(_ eq c)) change(c) else placed(c)).asInstanceOf[Join]
  }

  override protected def completed(j: Join, parts: Seq[Expression]): Join = {
    val inputs = j.children.flatMap(_.output)
    window(super.completed(j, parts.map(InputColumns.in(_, inputs))))
  }

  override protected def through(
      plan: LogicalPlan,
      conjuncts: Seq[Expression]
  ): (LogicalPlan, Seq[Expression]) = plan match {
    case j: Join if PreservedInputs.isOuter(j) && isOfInner(j) => distributeBelow(j, conjuncts)
    case PassesConditions(input, lower, on) if isOfInner(input) =>
      val lowered = conjuncts.map(lower)
      val (child, above) = distribute(input, lowered)
      val rest =
        conjuncts.zip(lowered).collect { case (part, low) if above.exists(_ eq low) => part }
      (on(child), rest)
    case input => (input, conjuncts)
  }

  /**
   * Moves conjuncts of WHERE below an outer join. A conjunct on an input that the join pads drops
   * the padded rows, so the join type becomes one that does not emit them.
   */
  private def distributeBelow(
      j: Join,
      conjuncts: Seq[Expression]
  ): (LogicalPlan, Seq[Expression]) = {
    val narrowed = PreservedInputs.narrowed(j, conjuncts)
    def into(side: Side, parts: Seq[Expression]) =
      if (PreservedInputs.of(narrowed)(side)) distribute(j.children(side.index), parts)
      else (distribute(j.children(side.index), Nil)._1, parts)
    val (left, afterLeft) = into(Side.Left, conjuncts)
    val (right, above) = into(Side.Right, afterLeft)
    val preserved = PreservedInputs.of(j.joinType)
    val isPreserved = (afterLeft.length == conjuncts.length || preserved(Side.Left)) &&
      (above.length == afterLeft.length || preserved(Side.Right))
    val joinType = if (isPreserved) j.joinType else narrowed
    (copied(j)(_.copy(left = left, right = right, joinType = joinType)), above)
  }

  /**
   * Whether a conjunct belongs into a join. Spark's optimizer pushes a conjunct on one input below
   * the join.
   */
  override protected def belongs(part: Expression, j: Join): Boolean =
    part.references.subsetOf(j.outputSet) && StreamJoin.mayDemand(part) &&
      // the keys in ON determine which rows are the last ones
      (isCross(j) || !JoinKind.of(j).contains(JoinKind.AsOf)) &&
      (isCross(j) || j.children.forall(input => !part.references.subsetOf(input.outputSet)))

  private def window(j: Join): Join = {
    val pending = LastRows.on(j.right).map(_.form).collect { case LastRows.AsOf(Some(c)) => c }
    if (!hasWindow(j) && pending.isEmpty || !isReady(j)) j
    else pending.fold(bounded(j))(matched(j, _))
  }

  private def matched(j: Join, pending: Expression): Join =
    copied(j)(_.copy(
      right = LastRows.changed(j.right)(_.copy(form = LastRows.AsOf(pending = None))),
      condition = (j.condition.filter(_ != Literal.TrueLiteral) ++ Seq(pending)).reduceOption(And)
    ))

  private def bounded(j: Join): Join = {
    val (left, right) = (time(j, Side.Left), time(j, Side.Right))
    val windows = WindowsOfInputs.of(j, left, right)
    val bounds = windows.condition(left, right)
    val join = copied(j)(_.copy(
      left = RelationWindow.off(j.left),
      right = RelationWindow.off(j.right),
      joinType = if (isCross(j)) Inner else j.joinType,
      condition = Some(j.condition.fold[Expression](bounds)(And(_, bounds)))
    ))
    join.setTagValue(JoinWindows.Placed, windows)
    join
  }

  private def isReady(j: Join): Boolean = {
    val waits = j.joinType match {
      case _: NaturalJoin | _: UsingJoin => true
      case _                             => false
    }
    !waits && j.childrenResolved && j.duplicateResolved && !j.exists(_.isInstanceOf[CTERelationRef])
  }

  /** The time column of the window on a side, or on the other side. */
  private def time(j: Join, side: Side): Attribute = {
    val input = j.children(side.index)
    val written = Seq(j.left, j.right).flatMap(RelationWindow.on(_)).head
    if (!input.isStreaming) {
      throw StreamJoinErrors.staticInput(j.origin, side.name, input.output.map(ColumnNames.of))
    }
    Rowtime.of(input) match {
      case Right(a: Attribute) => a
      case Left(Nil) =>
        throw MissingWatermark.refusal(j.origin, side, BySide(j.left, j.right), j.condition)
      case _ =>
        val names = Rowtime.columns(input).map(ColumnNames.of)
        throw WindowsOfInputs.refusal(
          written,
          s"the ${side.name} input has several event-time columns, ${names.mkString(" and ")}. " +
            "Remove the window, and compare one of these columns in ON"
        )
    }
  }
}
