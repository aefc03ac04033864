package org.apache.spark.sql.streamjoin.logical

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike, NaturalJoin, UsingJoin}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

import io.streamjoin.core.Side

/**
 * Gives each join of streams its whole condition: the windows on its inputs as bounds, and, where it
 * is written `FROM a, b WHERE ...`, the parts of WHERE that concern its columns.
 */
object PlaceWindows extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(JOIN)) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer(placed(plan))

  /** Refuses a window that no join has taken in. */
  def check(plan: LogicalPlan): Unit = plan.foreach {
    case w: RelationWindow =>
      throw JoinWindows.refusal(w, "it stands on a relation that is no input of a join")
    case _ =>
  }

  private def placed(plan: LogicalPlan): LogicalPlan = plan match {
    case f @ Filter(condition, j: Join) if isCross(j) =>
      val inputs = below(j)
      if (!f.resolved) f.withNewChildren(Seq(inputs))
      else if (!inputs.exists(isOurs)) f.withNewChildren(Seq(inputs))
      else {
        val (conjuncts, others) = splitConjunctivePredicates(condition)
          .partition(StreamJoin.mayDemand)
        val (joined, rest) = distribute(inputs, conjuncts)
        (rest ++ others).reduceOption(And).fold(joined)(Filter(_, joined))
      }
    case j: Join => window(j.mapChildren(placed).asInstanceOf[Join])
    case other   => other.mapChildren(placed)
  }

  private def isCross(j: Join): Boolean =
    j.joinType.isInstanceOf[InnerLike] && j.condition.isEmpty

  private def isOurs(plan: LogicalPlan): Boolean = plan match {
    case j: Join => hasWindow(j) || (j.resolved && StreamJoin.isOrdered(j))
    case _       => false
  }

  private def hasWindow(j: Join): Boolean =
    Seq(j.left, j.right).exists(RelationWindow.on(_).nonEmpty)

  /** The inputs of a chain of cross joins, each with its own joins done. */
  private def below(plan: LogicalPlan): LogicalPlan = plan match {
    case j: Join if isCross(j) => j.mapChildren(below)
    case input                 => placed(input)
  }

  /** @return the joins, and what is left of the condition */
  private def distribute(
      plan: LogicalPlan,
      conjuncts: Seq[Expression]
  ): (LogicalPlan, Seq[Expression]) = plan match {
    case j: Join if isCross(j) =>
      val (left, afterLeft) = distribute(j.left, conjuncts)
      val (right, afterRight) = distribute(j.right, afterLeft)
      val (here, above) = afterRight.partition(_.references.subsetOf(j.outputSet))
      val join = CurrentOrigin.withOrigin(j.origin) {
        j.copy(
          left = left,
          right = right,
          joinType = if (here.isEmpty) j.joinType else Inner,
          condition = here.reduceOption(And)
        )
      }
      (window(join), above)
    case input => (input, conjuncts)
  }

  private def window(j: Join): Join =
    if (!hasWindow(j) || !isReady(j)) j
    else {
      val (left, right) = (time(j, Side.Left), time(j, Side.Right))
      val windows = JoinWindows.of(j, left, right)
      val bounds = windows.condition(left, right)
      val join = CurrentOrigin.withOrigin(j.origin) {
        j.copy(
          left = RelationWindow.off(j.left),
          right = RelationWindow.off(j.right),
          joinType = if (isCross(j)) Inner else j.joinType,
          condition = Some(j.condition.fold[Expression](bounds)(And(_, bounds)))
        )
      }
      join.copyTagsFrom(j)
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

  /** The column that the window of a side, or of the other one, is about. */
  private def time(j: Join, side: Side): Attribute = {
    val input = if (side == Side.Left) j.left else j.right
    val written = Seq(j.left, j.right).flatMap(RelationWindow.on(_)).head
    if (!input.isStreaming) {
      throw StreamJoinErrors.staticInput(j.origin, side.name, input.output.map(ColumnNames.of))
    }
    Rowtime.of(input) match {
      case Right(a: Attribute) => a
      case Left(Nil) =>
        throw MissingWatermark.refusal(j.origin, side, j.left, j.right, j.condition)
      case _ =>
        val names = Rowtime.columns(input).map(ColumnNames.of)
        throw JoinWindows.refusal(
          written,
          s"the ${side.name} input has several event-time columns, ${names.mkString(" and ")}; " +
            "leave the window out and compare the one you mean in ON"
        )
    }
  }
}
