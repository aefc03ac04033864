package org.apache.spark.sql.streamjoin.checkpoint.segment

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging
import org.apache.spark.sql.streamjoin.spark.{StateStoreId, StoreReports, StreamExecution}

/**
 * Reports merged versions to Spark's coordinator of state stores as snapshots.
 *
 * Spark warns of stores that have not reported a snapshot for long ("Snapshot Lag Detected"), since
 * a restart would replay all changes. With [[MergeRule]], a restart reads a few files of each
 * length, however old the last whole is.
 */
private[segment] object MergedVersions extends Logging {

  /** Reports a version. A failed report does not fail the maintenance. */
  def report(store: StateStoreId, hadoopConf: Configuration, version: Long): Unit =
    for (env <- Option(SparkEnv.get); run <- Option(hadoopConf.get(StreamExecution.RUN_ID_KEY)))
      try {
        StoreReports.snapshot(env, store, run, version)
      } catch {
        case NonFatal(e) => logDebug(s"Cannot report version $version of $store to Spark", e)
      }
}
