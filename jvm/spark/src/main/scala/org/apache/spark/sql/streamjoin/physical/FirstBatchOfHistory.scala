package org.apache.spark.sql.streamjoin.physical

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.classic
import org.apache.spark.sql.streamjoin.logical.resolve.shared.InputSources
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

  /** The option of the sources of the batch that names the view they read. */
  val View: String = "history-view"

  /** The file that exists from before the batch to after it. */
  def unfinished(checkpoint: String): Path = new Path(checkpoint, "unfinished-history")

  /** Whether a call of `streamjoin.warm` has not ended, and the query is not its own. */
  private[physical] def isUnfinished(w: WriteToStream, files: CheckpointFileManager): Boolean =
    !InputSources.leaves(w.inputQuery).flatMap(InputSources.kind).exists(_._2.contains(View)) &&
      files.exists(unfinished(w.resolvedCheckpointLocation))

  /** Whether it is the last batch. */
  private[physical] def isLast(
      log: Path,
      offsets: Seq[Long],
      session: classic.SparkSession
  ): Boolean =
    offsets == Seq(0L) &&
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
