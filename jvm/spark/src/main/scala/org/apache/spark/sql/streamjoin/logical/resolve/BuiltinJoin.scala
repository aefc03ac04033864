package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin
import org.apache.spark.sql.streamjoin.StreamJoinConf

/**
 * A join of two streams in Spark's own words: no order is imposed on either. It stays Spark's unless
 * `spark.sql.streamJoin.replaceBuiltin` is set and its condition bounds the state.
 */
private[streamjoin] object BuiltinJoin {

  def unapply(j: Join): Option[Join] =
    Option.when(
      SQLConf.get.getConf(StreamJoinConf.ReplaceBuiltin) && j.resolved && StreamJoin.ofStreams(j) &&
        !StreamJoin.imposed(j)
    )(j)

  /** This project's join in its place, or why it has to stay. */
  def replaced(j: Join): Either[StreamJoinAnalysisException, StreamJoin] =
    try Right(StreamJoinBuilder.build(j, retained = false))
    catch { case refused: StreamJoinAnalysisException => Left(refused) }

  /**
   * An inner join whose bounds stand in filters above it: Spark moves those into its condition, but
   * only after it has been decided whose join it is.
   */
  object Filtered {
    def unapply(f: Filter): Option[LogicalPlan] =
      if (!f.resolved) None
      else
        for {
          below <- inner(f)
          if below.conditions.nonEmpty
          condition = (below.join.condition.toSeq ++ below.conditions).reduceLeft(And)
          ours <- replaced(below.join.copy(condition = Some(condition))).toOption
        } yield below.around(ours)

    /**
     * An inner join somewhere below.
     *
     * @param conditions of filters above it that may as well be its own
     * @param around puts what else is above the join on top of another
     * @param lowered makes of a condition on rows that come out one on rows of the join
     */
    private case class Inner(
        join: Join,
        conditions: Seq[Expression] = Nil,
        around: LogicalPlan => LogicalPlan = identity,
        lowered: Expression => Expression = identity
    )

    private def inner(plan: LogicalPlan): Option[Inner] = plan match {
      case BuiltinJoin(j) if j.joinType.isInstanceOf[InnerLike] => Some(Inner(j))
      case Filter(condition, child) if condition.deterministic =>
        inner(child).map { below =>
          val part = below.lowered(condition)
          if (belongs(part, below.join)) below.copy(conditions = below.conditions :+ part)
          else below.copy(around = top(plan, below))
        }
      case PassesConditions(child, lower) =>
        inner(child).map(below =>
          below.copy(around = top(plan, below), lowered = lower.andThen(below.lowered))
        )
      case _ => None
    }

    private def top(plan: LogicalPlan, below: Inner): LogicalPlan => LogicalPlan =
      ours => plan.withNewChildren(Seq(below.around(ours)))

    private def belongs(condition: Expression, j: Join): Boolean =
      condition.references.subsetOf(j.outputSet) && StreamJoin.mayDemand(condition)
  }
}
