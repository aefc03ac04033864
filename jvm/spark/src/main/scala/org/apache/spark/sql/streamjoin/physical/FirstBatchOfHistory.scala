package org.apache.spark.sql.streamjoin.physical

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.classic
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFileManager,
  CheckpointFiles,
  FileStreamSink,
  NamedSources
}

/**
 * The first batch of a checkpoint that `streamjoin.warm` has written. In its offsets, no source has
 * delivered a row. Spark itself plans no such batch.
 */
private[streamjoin] object FirstBatchOfHistory {

  /** Marks the plan of the batch. */
  val Plan = TreeNodeTag[Unit]("io.streamjoin.firstBatchOfHistory")

  /** The file that exists from before the batch to after it. */
  def unfinished(checkpoint: String): Path = new Path(checkpoint, "unfinished-history")

  /** Whether a call of `streamjoin.warm` has not ended, and the query is not its own. */
  private[physical] def isUnfinished(w: WriteToStream, files: CheckpointFileManager): Boolean =
    w.inputQuery.getTagValue(Plan).isEmpty &&
      files.exists(unfinished(w.resolvedCheckpointLocation))

  /** Whether it is the last batch. */
  private[physical] def isLast(
      log: Path,
      offsets: Seq[String],
      session: classic.SparkSession
  ): Boolean =
    offsets == Seq("0") &&
      NamedSources.haveDeliveredNothing(CheckpointFiles.offsets(session, log), 0)

  /**
   * Writes a batch without rows to a file sink. Its log has an entry for each batch from 0 on, and
   * cannot be read without the first one.
   */
  private[physical] def skip(w: WriteToStream, session: classic.SparkSession): Unit = w.sink match {
    case files: FileStreamSink =>
      files.addBatch(0, classic.Dataset.ofRows(session, LocalRelation(w.inputQuery.output)))
    case _ =>
  }
}
