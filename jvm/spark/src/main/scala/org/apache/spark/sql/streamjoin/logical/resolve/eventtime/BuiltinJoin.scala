package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{JoinKind, StreamJoin}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal
import org.apache.spark.sql.streamjoin.StreamJoinConf

/**
 * A join of two streams by Spark's own means, without a watermarked column of this project. It is
 * replaced under three conditions:
 *
 * - `spark.sql.streamJoin.replaceBuiltin` is set.
 * - Its condition bounds the state.
 * - No join below remains Spark's and emits rows of any age.
 */
private[streamjoin] object BuiltinJoin {

  def unapply(j: Join): Option[Join] =
    Option.when(isSought && j.resolved && JoinKind.of(j).contains(JoinKind.EventTime) &&
      !JoinKind.isImposed(j))(j)

  /** Whether Spark's joins are to be replaced. */
  def isSought: Boolean = SQLConf.get.getConf(StreamJoinConf.ReplaceBuiltin)

  /** This project's join, or the reason why Spark's remains. */
  def replaced(j: Join): Either[Refusal, StreamJoin] = StreamJoinBuilder.build(j, retained = false)
}
