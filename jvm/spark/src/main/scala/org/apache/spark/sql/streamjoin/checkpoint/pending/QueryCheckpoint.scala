package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.spark.StreamingQueryWrapper

/** Finds the checkpoint of a query. */
object QueryCheckpoint {

  def of(query: StreamingQuery): String = query match {
    case q: StreamingQueryWrapper => q.streamingQuery.resolvedCheckpointRoot
    case other => throw new IllegalArgumentException(s"$other runs in no session of this process")
  }

  /** Checkpoint of a running query, by its ID. */
  private[pending] def of(session: SparkSession, id: String): String =
    running(session, id).getOrElse(throw StateErrors.state("QUERY_NOT_RUNNING", "id" -> id))

  private[pending] def running(session: SparkSession, id: String): Option[String] =
    session.streams.active.find(_.id.toString.equalsIgnoreCase(id)).map(of)
}
