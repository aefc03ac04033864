package org.apache.spark.sql.streamjoin.warm

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, SQLContext}
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.{Offset, Source}
import org.apache.spark.sql.sources.StreamSourceProvider
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

  private val tables = new ConcurrentHashMap[String, classic.DataFrame]

  def add(id: String, rows: classic.DataFrame): Unit = tables.put(id, rows): Unit

  def remove(id: String): Unit = tables.remove(id): Unit

  def table(id: String): classic.DataFrame = tables.get(id)
}

/** Tables that are read as streams until it is closed. */
private[warm] final class HistoryTables extends AutoCloseable {

  private val ids = mutable.Buffer.empty[String]

  /** @param name the name that Spark gives the source, if sources have names */
  def stream(rows: classic.DataFrame, name: Option[String]): classic.DataFrame = {
    val id = UUID.randomUUID().toString
    HistorySource.add(id, rows)
    ids += id
    val reader = rows.sparkSession.readStream
      .format(classOf[HistoryProvider].getName).option(HistoryProvider.Id, id)
    name.foldLeft(reader)(NamedSources.named).load()
  }

  override def close(): Unit = ids.foreach(HistorySource.remove)
}

/** Lets Spark create a [[HistorySource]]. */
private[warm] final class HistoryProvider extends StreamSourceProvider {

  override def sourceSchema(
      context: SQLContext,
      schema: Option[StructType],
      providerName: String,
      parameters: Map[String, String]
  ): (String, StructType) = (providerName, of(parameters).schema)

  override def createSource(
      context: SQLContext,
      metadataPath: String,
      schema: Option[StructType],
      providerName: String,
      parameters: Map[String, String]
  ): Source = new HistorySource(of(parameters))

  private def of(parameters: Map[String, String]) =
    HistorySource.table(parameters(HistoryProvider.Id))
}

private[warm] object HistoryProvider {

  /** The option that names the table. */
  val Id: String = "id"
}
