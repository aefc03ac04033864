package org.apache.spark.sql.streamjoin.physical.eventtime

import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.stateful.StoredDescription
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.model.JoinType
import io.streamjoin.placement.Routing

/**
 * The routing of a join without an equality. A query with a checkpoint keeps the routing that it
 * started with, because its state is partitioned by it. The description in the checkpoint is read
 * once in a run.
 */
private[eventtime] object RoutingOfQuery {

  private val found = new PerOperator[Routing]

  /** @param anew the routing of a query without a checkpoint */
  def apply(
      anew: Routing,
      joinType: JoinType,
      info: StatefulOperatorStateInfo,
      session: SparkSession
  ): Routing =
    if (anew == Routing.ByKey) anew
    else
      found.planned(info, session) {
        Try(StoredDescription.of(info, session).flatMap(of(joinType, _))).toOption.flatten
          .getOrElse(anew)
      }

  /**
   * Ignores an invalid description. The check before the first batch compares all of it, and
   * reports the error.
   */
  private def of(joinType: JoinType, json: String): Option[Routing] = {
    val sameType =
      JoinDescription.fields(
        json
      ).get("joinType").map(JoinDescription.shown).contains(joinType.name)
    if (sameType) JoinDescription.routing(json).filter(_ != Routing.ByKey) else None
  }
}
