package org.apache.spark.sql.streamjoin.warm

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, SQLContext}
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.{Offset, Source}
import org.apache.spark.sql.sources.StreamSourceProvider
import org.apache.spark.sql.streamjoin.physical.FirstBatchOfHistory
import org.apache.spark.sql.streamjoin.spark.NamedSources
import org.apache.spark.sql.types.StructType

/**
 * A source that reads a table in the first batch, in place of a live source.
 *
 * Its only offset is written as Spark writes the offset of a source that has delivered nothing. So
 * the checkpoint continues with any live source, which begins where its options say.
 */
private[warm] final class HistorySource(rows: classic.DataFrame) extends Source {

  override def schema: StructType = rows.schema

  override def getOffset: Option[Offset] = Some(HistorySource.Nothing)

  override def getBatch(start: Option[Offset], end: Offset): DataFrame =
    rows.sparkSession
      .internalCreateDataFrame(rows.queryExecution.toRdd, schema, isStreaming = true)

  override def stop(): Unit = ()
}

private[warm] object HistorySource {

  /** The offset of a source that has delivered nothing. */
  private object Nothing extends Offset {
    override def json: String = "-"
  }
}

/**
 * Tables that are read as streams until it is closed. Meanwhile each table is a temporary view of its
 * session, by whose name Spark's source finds it.
 */
private[warm] final class HistoryTables extends AutoCloseable {

  private val views = mutable.Map.empty[String, classic.SparkSession]

  /** @param name the name that Spark gives the source, if sources have names */
  def stream(rows: classic.DataFrame, name: Option[String]): classic.DataFrame = {
    val session = rows.sparkSession
    val view = s"streamjoin_history_${UUID.randomUUID().toString.replace("-", "")}"
    rows.createTempView(view)
    views += view -> session
    val reader = session.readStream
      .format(classOf[HistoryProvider].getName).option(FirstBatchOfHistory.View, view)
    name.foldLeft(reader)(NamedSources.named).load()
  }

  override def close(): Unit =
    views.foreach { case (view, session) => session.catalog.dropTempView(view) }
}

/** Lets Spark create a [[HistorySource]]. */
private[warm] final class HistoryProvider extends StreamSourceProvider {

  override def sourceSchema(
      context: SQLContext,
      schema: Option[StructType],
      providerName: String,
      parameters: Map[String, String]
  ): (String, StructType) = (providerName, table(context, parameters).schema)

  override def createSource(
      context: SQLContext,
      metadataPath: String,
      schema: Option[StructType],
      providerName: String,
      parameters: Map[String, String]
  ): Source = new HistorySource(table(context, parameters))

  private def table(context: SQLContext, parameters: Map[String, String]): classic.DataFrame =
    context.sparkSession.table(parameters(FirstBatchOfHistory.View)).asInstanceOf[classic.DataFrame]
}
