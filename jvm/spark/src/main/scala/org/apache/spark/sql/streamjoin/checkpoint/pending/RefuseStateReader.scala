package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.v2.state.{StateSourceOptions, StateTable}

/**
 * Refuses to read the state of a streamjoin operator with Spark's `statestore` source.
 *
 * That source always uses the provider of the session. It would report that files are missing which
 * this format never has.
 */
private[streamjoin] final case class RefuseStateReader(session: SparkSession)
    extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case r: DataSourceV2Relation if r.table.isInstanceOf[StateTable] =>
      val location = r.options.get(StateSourceOptions.PATH)
      val operator = r.options.getLong(StateSourceOptions.OPERATOR_ID, 0L)
      val stored = new StoredJoins(session.asInstanceOf[classic.SparkSession], location, None)
      if (stored.all.exists(_.operator == operator)) {
        throw StateErrors.state(
          "OTHER_READER",
          "location" -> location,
          "operator" -> operator.toString
        )
      }
    case _ =>
  }
}
