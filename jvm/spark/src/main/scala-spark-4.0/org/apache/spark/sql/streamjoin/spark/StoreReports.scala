package org.apache.spark.sql.streamjoin.spark

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.internal.SQLConf

/**
 * Reports of state stores to Spark's coordinator of state stores. This version of Spark accepts
 * none.
 */
private[streamjoin] object StoreReports {

  def committed(
      conf: StateStoreConf,
      store: StateStoreId,
      version: Long,
      hadoop: Configuration
  ): Unit =
    ()

  def withoutCommitChecks(conf: SQLConf): Unit = ()

  def withoutSnapshots(conf: SQLConf): Unit = ()

  def snapshot(
      conf: StateStoreConf,
      store: StateStoreId,
      version: Long,
      hadoop: Configuration
  ): Unit =
    ()
}
