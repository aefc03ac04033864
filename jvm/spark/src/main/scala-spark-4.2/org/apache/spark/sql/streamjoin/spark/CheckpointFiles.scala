package org.apache.spark.sql.streamjoin.spark

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state._

/** Readers of the files of a checkpoint. They create no folders. */
private[streamjoin] object CheckpointFiles {

  def commits(session: SparkSession, folder: Path): CommitLog =
    new CommitLog(session, folder.toString, readOnly = true)

  def offsets(session: SparkSession, folder: Path): OffsetSeqLog =
    new OffsetSeqLog(session, folder.toString, readOnly = true)

  /**
   * The metadata of a stateful operator at a batch.
   *
   * @param version the format of the metadata. Format 1 has no batches
   */
  def operatorMetadata(
      operator: Path,
      hadoopConf: Configuration,
      batch: Long,
      version: Int = 2
  ): Option[OperatorStateMetadata] =
    OperatorStateMetadataReader
      .createReader(operator, hadoopConf, version, batch, createMetadataDir = false)
      .read()
}
