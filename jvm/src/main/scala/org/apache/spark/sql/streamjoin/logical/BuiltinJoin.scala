package org.apache.spark.sql.streamjoin.logical

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException

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
          (j, conditions, around) <- innerJoin(f)
          if conditions.nonEmpty
          condition = (j.condition.toSeq ++ conditions).reduceLeft(And)
          ours <- replaced(j.copy(condition = Some(condition))).toOption
        } yield around(ours)

    /** The join, the filters that may as well stand in its condition, and what else is above it. */
    private def innerJoin(
        plan: LogicalPlan
    ): Option[(Join, Seq[Expression], LogicalPlan => LogicalPlan)] = plan match {
      case BuiltinJoin(j) if j.joinType.isInstanceOf[InnerLike] => Some((j, Nil, identity))
      case _: Filter | _: Project | _: SubqueryAlias if plan.expressions.forall(_.deterministic) =>
        innerJoin(plan.children.head).map { case (j, conditions, around) =>
          plan match {
            case Filter(condition, _) if belongs(condition, j) =>
              (j, conditions :+ condition, around)
            case _ => (j, conditions, ours => plan.withNewChildren(Seq(around(ours))))
          }
        }
      case _ => None
    }

    private def belongs(condition: Expression, j: Join): Boolean =
      condition.references.subsetOf(j.outputSet) && StreamJoin.mayDemand(condition)
  }
}
