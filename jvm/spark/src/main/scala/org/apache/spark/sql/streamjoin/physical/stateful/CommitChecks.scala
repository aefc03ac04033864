package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.spark.{ProgressReporter, StoreReports, StreamExecution}

/**
 * Whether Spark looks at the end of a batch which stores have committed. It does where rows go to a function
 * (`foreachBatch`), which may leave some of them unread. Of a query with another sink nobody reads what stores
 * report, a message and its answer for each partition in each batch.
 */
private[stateful] object CommitChecks {

  /** Of all batches of a run of a query, on the driver, while one of them is run. Where it is not known they are. */
  def ofRun(run: UUID, session: SparkSession): Boolean =
    session.sharedState.activeStreamingQueries.values.asScala.find(_.runId == run).forall(known)

  private def known(query: StreamExecution): Boolean =
    reporter.forall { of =>
      StoreReports.comparesCommits(of.invoke(query).asInstanceOf[ProgressReporter])
    }

  /** Spark has it for its own queries only. */
  private val reporter = Try(classOf[StreamExecution].getMethod("progressReporter")).toOption
}
