package org.apache.spark.sql.streamjoin.rewrite

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoins
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.spark.StreamingCheckpointConstants.{
  DIR_NAME_COMMITS,
  DIR_NAME_OFFSETS
}

/**
 * Writes a new checkpoint from that of a stopped query, which continues from it.
 *
 * {{{
 *   1   refuse what cannot be written, by the files beside the state
 *   2   read all rows, and find what each new partition gets
 *   3   write the state, the other files, the commit, and the offsets
 * }}}
 *
 * Steps 1 and 2 write nothing, and no step changes the old checkpoint.
 *
 * @param location the old checkpoint
 * @param target the folder of the new one
 */
private[streamjoin] abstract class CheckpointRewrite(
    session: classic.SparkSession,
    location: String,
    target: String
) {
  protected final val hadoopConf = session.sessionState.newHadoopConf()
  protected final val stored = new StoredJoins(session, location, None)
  protected final val batch: Long = stored.batch

  /** The number of the new partitions. */
  protected def partitions: Int

  protected final lazy val files =
    new NewFiles(stored.root, stored.qualified(target), partitions, hadoopConf)

  private def latest = files.batches(DIR_NAME_OFFSETS).lastOption.getOrElse(-1L)

  /** The last batch with offsets when the call began: the committed one, or the one after it. */
  protected final lazy val planned: Long = latest

  /**
   * Writes the files beside the state, after it.
   *
   * @param ids the IDs of the new versions by operator and partition
   * @param logs the old and the new name of each source whose log is copied
   * @param sources the lines with the offsets of the sources, as they change
   */
  protected final def complete(
      ids: Map[Long, Seq[String]],
      logs: Seq[(String, String)],
      sources: Seq[String] => Seq[String] = identity
  ): Unit = {
    files.copyOthers(logs)
    files.commit(batch, ids)
    requireUnchanged()
    needed.foreach(files.offsets(_, sources))
  }

  /** The entries of the offset log. The latest first: Spark does not start without the other one. */
  private def needed: Seq[Long] =
    Seq(planned max batch, (planned max batch) - 1).filter(_ >= 0)

  // ---- refusals ----

  protected final def refusal(
      subClass: String,
      parameters: (String, String)*
  ): StreamJoinAnalysisException = StateErrors.rewrite(subClass, location, parameters: _*)

  /**
   * Refuses checkpoints and folders from which, or to which, nothing can be written.
   *
   * @param reads whether the state of an operator of Spark can be read, by its name
   */
  protected final def refuseLocations(reads: String => Boolean = _ => false): Unit = {
    // those of all sessions of the application
    val running = session.sharedState.activeStreamingQueries.values.asScala
    for (query <- running if stored.qualified(query.resolvedCheckpointRoot) == stored.root)
      throw refusal("QUERY_RUNNING", "id" -> query.id.toString)
    if (files.overlap) throw refusal("TARGET_INSIDE", "to" -> target)
    if (!files.isEmpty) throw refusal("TARGET_NOT_EMPTY", "to" -> target)
    if (planned > batch + 1) {
      throw refusal(
        "UNFINISHED_BATCHES",
        "planned" -> planned.toString,
        "committed" -> batch.toString
      )
    }
    for (entry <- needed.diff(files.batches(DIR_NAME_OFFSETS)).headOption)
      throw refusal("MISSING_OFFSETS", "batch" -> entry.toString)
    for ((operator, name) <- stored.others if !reads(name))
      throw refusal("OTHER_OPERATOR", "operator" -> operator.toString, "name" -> name)
  }

  private def requireUnchanged(): Unit = {
    val now = Seq(files.batches(DIR_NAME_COMMITS).last, latest)
    if (now != Seq(batch, planned)) {
      throw refusal(
        "CHANGED",
        "before" -> s"$batch and $planned",
        "now" -> now.mkString(" and "),
        "to" -> target
      )
    }
  }

  protected final def describe(job: String): Unit = session.sparkContext.setJobDescription(job)
}

private[streamjoin] object CheckpointRewrite {

  /** Runs a rewrite in a session, whose description of jobs it restores. */
  def in[T](session: SparkSession)(run: classic.SparkSession => T): T = {
    val own = session.asInstanceOf[classic.SparkSession]
    val before = own.sparkContext.getLocalProperty(Description)
    try own.withActive(run(own))
    finally own.sparkContext.setJobDescription(before)
  }

  private val Description = "spark.job.description"
}
