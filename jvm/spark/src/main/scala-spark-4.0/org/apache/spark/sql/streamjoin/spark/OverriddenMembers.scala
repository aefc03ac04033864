package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.StateStore

// Members that later versions of Spark have. This version does not call them.

/** An error that has its message without parameter values. */
private[streamjoin] trait MessageTemplate extends SparkThrowable {

  protected def template: String
}

private[streamjoin] trait ReleasedStore extends StateStore

private[streamjoin] trait ClosedFileManager extends CheckpointFileManager {

  protected def closeFiles(): Unit
}

private[streamjoin] object FileManagers {

  /** Does nothing: file managers of this version of Spark have no resources to release. */
  def close(manager: CheckpointFileManager): Unit = ()
}
