package org.apache.spark.sql.streamjoin.spark

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreConf,
  StateStoreCoordinatorRef,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.internal.SQLConf

/** Reports of a state store to Spark's coordinator of state stores. */
private[streamjoin] final class StoreReports(
    conf: StateStoreConf,
    store: StateStoreId,
    hadoop: Configuration
) {

  /** Reports a commit, if Spark compares the commits of a batch. */
  def committed(version: Long): Unit =
    if (conf.commitValidationEnabled) StateStore.reportCommitToCoordinator(version, store, hadoop)

  /** Reports a merged version as a snapshot, if Spark looks for stores that lag behind. */
  def snapshot(version: Long): Unit =
    for {
      env <- Option(SparkEnv.get) if conf.reportSnapshotUploadLag
      run <- Option(hadoop.get(StreamExecution.RUN_ID_KEY))
    } StateStoreCoordinatorRef.forExecutor(env).snapshotUploaded(
      StateStoreProviderId(store, UUID.fromString(run)),
      version,
      System.currentTimeMillis()
    )
}

private[streamjoin] object StoreReports {

  def withoutCommitChecks(conf: SQLConf): Unit =
    conf.setConf(SQLConf.STATE_STORE_COMMIT_VALIDATION_ENABLED, false)

  def withoutSnapshots(conf: SQLConf): Unit =
    conf.setConf(SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG, false)
}
