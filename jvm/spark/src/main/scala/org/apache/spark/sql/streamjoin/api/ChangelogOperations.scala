package org.apache.spark.sql.streamjoin.api

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.{classic, Column, DataFrame}
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.ChangelogSource

/** Operations on DataFrames with changes. Callers use `io.streamjoin`. */
object ChangelogOperations {

  def fromChangelog(
      df: DataFrame,
      key: Seq[String],
      op: String,
      mapping: Map[String, String],
      sequenceBy: Option[String]
  ): DataFrame = declared(df)(_.changes(key, op, mapping, sequenceBy))

  def fromUpserts(
      df: DataFrame,
      key: Seq[String],
      sequenceBy: String,
      deletes: Option[Column]
  ): DataFrame = {
    // resolves the condition as a filter on the input
    val condition = deletes.map { c =>
      classicOf(df.filter(c)).logicalPlan.expressions.head
    }
    declared(df)(_.upserts(key, sequenceBy, condition))
  }

  def fromDebezium(
      df: DataFrame,
      key: Seq[String],
      value: String,
      sequenceBy: Option[String]
  ): DataFrame = declared(df)(_.debezium(key, value, sequenceBy))

  /** Emits one row for each key and batch. */
  def toUpserts(df: DataFrame, key: Seq[String]): DataFrame =
    declared(df)(_.upsertsOf(key))

  private def declared(df: DataFrame)(make: ChangelogSource => LogicalPlan): DataFrame = {
    val dataset = classicOf(df)
    val session = dataset.sparkSession
    val source = new ChangelogSource(dataset.logicalPlan, session.sessionState.conf.resolver)
    classic.Dataset.ofRows(session, make(source))
  }

  private def classicOf(df: DataFrame): classic.DataFrame = df.asInstanceOf[classic.DataFrame]
}
