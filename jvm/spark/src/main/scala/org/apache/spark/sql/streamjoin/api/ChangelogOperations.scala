package org.apache.spark.sql.streamjoin.api

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.resolve.{
  ChangelogBuilder,
  ChangelogSource,
  ResolveChangelogJoin
}
import org.apache.spark.sql.{classic, Column, DataFrame}
import org.apache.spark.unsafe.types.UTF8String

/** What DataFrames of changes can do. Callers use `io.streamjoin`. */
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
    // the condition is resolved as a filter on the input would be
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

  /** Whether the rows of a DataFrame are changes. */
  def isChangelog(df: DataFrame): Boolean = ChangelogBuilder.isChangelog(classicOf(df).logicalPlan)

  /**
   * The join of two changelogs.
   *
   * @param ttl for how long rows of each side are kept, as intervals; none: until they go
   * @param join Spark's join of the two DataFrames it is given
   */
  def join(left: DataFrame, right: DataFrame, ttl: (Option[String], Option[String]))(
      join: (DataFrame, DataFrame) => DataFrame
  ): DataFrame = {
    val l = declared(left)(_.kept(ttl._1.map(millis)))
    val r = declared(right)(_.kept(ttl._2.map(millis)))
    val dataset = classicOf(join(l, r))
    classic.Dataset.ofRows(dataset.sparkSession, ResolveChangelogJoin.all(dataset.logicalPlan))
  }

  /** One row for each key and batch. */
  def toUpserts(df: DataFrame, key: Seq[String]): DataFrame =
    declared(df)(_.upsertsOf(key))

  private def millis(text: String): Long = {
    def refused(reason: String) =
      StreamJoinErrors.invalidStateTtl(CurrentOrigin.get, s"'$text'", reason)
    val interval =
      try IntervalUtils.stringToInterval(UTF8String.fromString(text))
      catch { case e: Exception => throw refused("it is no interval") }
    if (interval.months != 0) throw refused("months and years have no constant length")
    val ms = IntervalUtils.getDuration(interval, java.util.concurrent.TimeUnit.MILLISECONDS)
    if (ms <= 0) throw refused("it is not positive")
    ms
  }

  private def declared(df: DataFrame)(make: ChangelogSource => LogicalPlan): DataFrame = {
    val dataset = classicOf(df)
    val session = dataset.sparkSession
    val source = new ChangelogSource(dataset.logicalPlan, session.sessionState.conf.resolver)
    classic.Dataset.ofRows(session, make(source))
  }

  private def classicOf(df: DataFrame): classic.DataFrame = df.asInstanceOf[classic.DataFrame]
}
