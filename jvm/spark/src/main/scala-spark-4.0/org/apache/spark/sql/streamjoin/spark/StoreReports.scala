package org.apache.spark.sql.streamjoin.spark

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.internal.SQLConf

/**
 * Reports of a state store to Spark's coordinator of state stores. This version of Spark accepts
 * none.
 */
private[streamjoin] final class StoreReports(
    conf: StateStoreConf,
    store: StateStoreId,
    hadoop: Configuration
) {

  def committed(version: Long): Unit = ()

  def snapshot(version: Long): Unit = ()
}

private[streamjoin] object StoreReports {

  def withoutCommitChecks(conf: SQLConf): Unit = ()

  def withoutSnapshots(conf: SQLConf): Unit = ()
}
