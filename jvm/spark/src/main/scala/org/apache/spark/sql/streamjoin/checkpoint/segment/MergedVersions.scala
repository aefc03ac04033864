package org.apache.spark.sql.streamjoin.checkpoint.segment

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging
import org.apache.spark.sql.streamjoin.spark.{StateStoreId, StoreReports, StreamExecution}

/**
 * Tells Spark's coordinator of state stores that a version is as cheap to read as it gets.
 *
 * It warns of stores that have not told of a snapshot for long ("Snapshot Lag Detected"): a restart would have to go
 * through all that has changed since. Here it reads some files a level ([[MergeRule]]), however long ago the last
 * whole was written.
 */
private[segment] object MergedVersions extends Logging {

  /** What cannot be told is no reason for maintenance to fail. */
  def report(store: StateStoreId, hadoopConf: Configuration, version: Long): Unit =
    for (env <- Option(SparkEnv.get); run <- Option(hadoopConf.get(StreamExecution.RUN_ID_KEY)))
      try {
        StoreReports.snapshot(env, store, run, version)
      } catch {
        case NonFatal(e) => logDebug(s"Spark was not told of version $version of $store", e)
      }
}
