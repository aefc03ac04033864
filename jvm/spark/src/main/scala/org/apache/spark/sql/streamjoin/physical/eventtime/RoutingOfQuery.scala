package org.apache.spark.sql.streamjoin.physical.eventtime

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.stateful.StoredDescription
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.model.JoinType
import io.streamjoin.placement.Routing

/**
 * How the rows of a join without an equality reach its partitions: as they did when its checkpoint began, for
 * there they lie. It is looked up once in a query's run.
 */
private[eventtime] object RoutingOfQuery {

  private val found = new PerOperator[Routing]

  /** @param anew how they would, were there nothing yet */
  def apply(
      anew: Routing,
      joinType: JoinType,
      info: StatefulOperatorStateInfo,
      session: SparkSession
  ): Routing =
    if (anew == Routing.ByKey) anew
    else
      found.of(info) {
        Try(StoredDescription.of(info, session).flatMap(of(joinType, _))).toOption.flatten
          .getOrElse(anew)
      }

  /** What is wrong with a description is said where the whole of it is compared, before the first batch. */
  private def of(joinType: JoinType, json: String): Option[Routing] = {
    val sameType =
      JoinDescription.fields(
        json
      ).get("joinType").map(JoinDescription.shown).contains(joinType.name)
    if (sameType) JoinDescription.routing(json).filter(_ != Routing.ByKey) else None
  }
}
