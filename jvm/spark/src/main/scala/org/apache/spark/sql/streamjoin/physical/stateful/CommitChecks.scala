package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.spark.{ProgressReporter, StoreReports, StreamExecution}

/**
 * Decides whether state stores report their commits to Spark's coordinator.
 *
 * At the end of a batch, Spark compares the commits for a sink that calls a function
 * (`foreachBatch`), because the function may leave partitions unread. For any other sink, nothing
 * reads the reports. Each report costs a message and its answer per partition and batch.
 */
private[stateful] object CommitChecks {

  /**
   * Whether Spark compares the commits in a run of a query. Called on the driver, during a batch.
   * If this is unknown, stores report.
   */
  def ofRun(run: UUID, session: SparkSession): Boolean =
    session.sharedState.activeStreamingQueries.values.asScala.find(_.runId == run).forall(known)

  private def known(query: StreamExecution): Boolean =
    reporter.forall { of =>
      StoreReports.comparesCommits(of.invoke(query).asInstanceOf[ProgressReporter])
    }

  /** Reflective, because Spark declares the method for subclasses only. */
  private val reporter = Try(classOf[StreamExecution].getMethod("progressReporter")).toOption
}
