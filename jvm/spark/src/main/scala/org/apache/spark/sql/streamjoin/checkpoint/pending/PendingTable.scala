package org.apache.spark.sql.streamjoin.checkpoint.pending

import java.util.{Set => JSet}

import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.internal.connector.SimpleTableProvider
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{classic, SparkSession}

import io.streamjoin.model.Side

/**
 * Data source of buffered rows, as of one batch:
 * `spark.read.format("streamjoin-pending").load(checkpoint)`.
 *
 * The batch is chosen when the table is created. Repeated evaluations therefore read the same rows.
 */
final class PendingSource extends SimpleTableProvider with DataSourceRegister {

  override def shortName(): String = PendingOptions.Format

  override def getTable(options: CaseInsensitiveStringMap): Table =
    PendingTable.of(SparkSession.active, PendingOptions.of(options))
}

/** Table of the rows that the joins and ordered outputs of a checkpoint buffer after a batch. */
private[pending] final class PendingTable(
    session: classic.SparkSession,
    location: String,
    parts: Seq[PendingPart],
    shown: StructType
) extends Table
    with SupportsRead {

  override def name(): String = s"${PendingOptions.Format} $location"

  override def schema(): StructType = shown

  override def capabilities(): JSet[TableCapability] = JSet.of(TableCapability.BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    new PendingScan(session, location, parts, shown)
}

private[pending] object PendingTable {

  def of(session: SparkSession, asked: PendingOptions): PendingTable = {
    val spark = session.asInstanceOf[classic.SparkSession]
    val location = asked.where.fold(identity, QueryCheckpoint.of(spark, _))
    val stored = new StoredJoins(spark, location, asked.batch)
    val joins = stored.of(asked.operator)
    val sides = asked.side.fold(Side.both)(Seq(_))
    asked.side.filter(_ => joins.length > 1).foreach { side =>
      throw StateErrors.stateNotFound(
        location,
        s"more than one streamJoin: ${stored.numbers(joins)}. Select one with the option " +
          s"operator, for its ${side.name} rows"
      )
    }
    val shape = new PendingShape(joins, sides, spark.sessionState.conf.sessionLocalTimeZone)
    val parts = for {
      join <- joins
      partition <- 0 until join.partitions
    } yield PendingPart(
      stored.batch,
      stored.batchTimeMs,
      join,
      partition,
      shape.sidesOf(join).map(s => s -> shape.side(join, s)).toMap
    )
    new PendingTable(spark, location, parts, shape.schema)
  }
}
