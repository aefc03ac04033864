package org.apache.spark.sql.streamjoin.spark

private[streamjoin] object FileManagers {

  def close(manager: CheckpointFileManager): Unit = manager.close()
}
