package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.StateStore

// Overrides of members that later versions of Spark have.

/** An error that has its message without parameter values. */
private[streamjoin] trait MessageTemplate extends SparkThrowable {

  protected def template: String

  override def getDefaultMessageTemplate: String = template
}

private[streamjoin] trait ReleasedStore extends StateStore {

  override def release(): Unit = abort()
}

private[streamjoin] trait ClosedFileManager extends CheckpointFileManager {

  protected def closeFiles(): Unit

  override def close(): Unit = closeFiles()
}

private[streamjoin] object FileManagers {
  def close(manager: CheckpointFileManager): Unit = manager.close()
}
