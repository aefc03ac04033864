package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.SparkThrowable

// Members that later versions of Spark have, as overrides.

/** An error that knows its message without the values in it. */
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
