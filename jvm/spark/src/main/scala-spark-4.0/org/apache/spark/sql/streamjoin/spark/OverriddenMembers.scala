package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.SparkThrowable

// Members that later versions of Spark have: here Spark calls none of them.

/** An error that knows its message without the values in it. */
private[streamjoin] trait MessageTemplate extends SparkThrowable {

  protected def template: String
}

private[streamjoin] trait ReleasedStore extends StateStore

private[streamjoin] trait ClosedFileManager extends CheckpointFileManager {

  protected def closeFiles(): Unit
}
