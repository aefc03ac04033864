package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.logical.plan.{JoinKind, StreamJoin}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal
import org.apache.spark.sql.streamjoin.StreamJoinConf

/**
 * A join of two streams in Spark's own words: no order is imposed on either. It stays Spark's unless
 * `spark.sql.streamJoin.replaceBuiltin` is set, its condition bounds the state, and nothing below it
 * stays Spark's of which rows come out at any age.
 */
private[streamjoin] object BuiltinJoin {

  def unapply(j: Join): Option[Join] =
    Option.when(isSought && j.resolved && JoinKind.of(j).contains(JoinKind.EventTime) &&
      !JoinKind.isImposed(j))(j)

  /** Whether Spark's joins are to be replaced. */
  def isSought: Boolean = SQLConf.get.getConf(StreamJoinConf.ReplaceBuiltin)

  /** This project's join in its place, or why it has to stay. */
  def replaced(j: Join): Either[Refusal, StreamJoin] = StreamJoinBuilder.build(j, retained = false)
}
