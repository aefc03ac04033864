package org.apache.spark.sql.streamjoin.spark

private[streamjoin] object FileManagers {

  /** Does nothing: file managers of this version of Spark have no resources to release. */
  def close(manager: CheckpointFileManager): Unit = ()
}
