package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.streamjoin.checkpoint.formats.StateFormats
import org.apache.spark.sql.streamjoin.checkpoint.{StoredRow, StoredVersion}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.{classic, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.util.SerializableConfiguration

import io.streamjoin.model.{Routing, Side}

/**
 * The rows that joins hold back, as a DataFrame: those of one batch, read from the checkpoint by a task
 * for each partition of each join.
 */
object PendingRows {

  /** Where a query has its checkpoint. */
  def checkpoint(query: StreamingQuery): String = query match {
    case q: StreamingQueryWrapper => q.streamingQuery.resolvedCheckpointRoot
    case other => throw new IllegalArgumentException(s"$other runs in no session of this process")
  }

  def of(
      session: SparkSession,
      checkpoint: String,
      side: Option[String],
      operator: Option[Long],
      batch: Option[Long]
  ): DataFrame = {
    val spark = session.asInstanceOf[classic.SparkSession]
    val stored = new StoredJoins(spark, checkpoint, batch)
    val joins = stored.of(operator)
    val sides = Side.both.filter(s => side.forall(_ == s.name))
    if (side.nonEmpty && joins.length > 1) {
      throw StreamJoinErrors.stateNotFound(
        checkpoint,
        s"more than one streamJoin: ${stored.numbers(joins)}. Say by operator whose " +
          s"${side.get} rows are meant"
      )
    }
    val shape = new PendingShape(joins, sides, spark.sessionState.conf.sessionLocalTimeZone)
    val parts = for {
      join <- joins
      partition <- 0 until join.partitions
    } yield PendingPart(
      stored.batch,
      join.operator,
      partition,
      join.description.format,
      join.description.routing,
      join.version(partition),
      sides.map(s => s -> shape.side(join, s)).toMap
    )
    val hadoopConf =
      SerializableConfiguration.broadcast(spark.sparkContext, spark.sessionState.newHadoopConf())
    val rows = spark.sparkContext.parallelize(parts, parts.length).flatMap(_.rows(hadoopConf))
    spark.internalCreateDataFrame(rows, shape.schema, false)
  }
}

/** What a task is to read. */
private final case class PendingPart(
    batch: Long,
    operator: Long,
    partition: Int,
    format: String,
    routing: Routing,
    version: StoredVersion,
    sides: Map[Side, PendingSide]
) {

  def rows(hadoopConf: Broadcast[SerializableConfiguration]): Iterator[InternalRow] = {
    val stored = StateFormats.of(format).read(version, hadoopConf.value.value)
    TaskContext.get().addTaskCompletionListener[Unit](_ => stored.close())
    val projections = sides.map { case (side, p) =>
      side -> UnsafeProjection.create(p.expressions)
    }
    stored.rows.filter(row => sides.contains(row.side) && isShown(row)).map { row =>
      val side = sides(row.side)
      projections(row.side)(
        side.values(batch, operator, place(row.side), row, stored.watermarks(row.side))
      )
    }
  }

  /** Copies of a row that several partitions hold are shown once. */
  private def isShown(row: StoredRow): Boolean =
    routing.countsIn(partition, row.side) && !routing.isGuest(row.key)

  private def place(side: Side): Option[Int] = Option.when(!routing.copies(side))(partition)
}
