package org.apache.spark.sql.streamjoin.rescale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoins
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.spark.StreamingCheckpointConstants.{
  DIR_NAME_COMMITS,
  DIR_NAME_OFFSETS
}

/**
 * Writes a new checkpoint of a stopped query, with another number of partitions. The query continues
 * from it as if it had started with this number.
 *
 * {{{
 *   1   refuse what cannot be moved, by the files beside the state
 *   2   read all rows: check their keys, find their new partitions, compare the partitions
 *   3   write the state, the other files, the commit, and the offsets
 * }}}
 *
 * Steps 1 and 2 write nothing, and no step changes the old checkpoint.
 *
 * @param location the old checkpoint
 * @param target the folder of the new one
 */
private[rescale] final class Rescale(
    session: classic.SparkSession,
    location: String,
    target: String,
    partitions: Int
) {
  private val hadoopConf = session.sessionState.newHadoopConf()
  private val stored = new StoredJoins(session, location, None)
  private val files =
    new RescaledFiles(stored.root, stored.qualified(target), partitions, hadoopConf)
  private val batch = stored.batch
  private def latest = files.batches(DIR_NAME_OFFSETS).lastOption.getOrElse(-1L)

  /** @return a line for each operator */
  def run(): Seq[String] = {
    val planned = latest
    refuse(planned)
    val joins = stored.of(None)
    val plans = joins.map { join =>
      describe(s"read operator ${join.operator}")
      new OperatorPlanner(session, joins, join, partitions, location).plan()
    }
    val ids = plans.flatMap { plan =>
      describe(s"rescale operator ${plan.join.operator}")
      plan.write(files, batch).map(plan.join.operator -> _)
    }
    files.copyOthers()
    files.commit(batch, ids.toMap)
    requireUnchanged(planned)
    needed(planned).foreach(files.offsets)
    plans.map(_.told)
  }

  /** The entries of the offset log. The latest first: Spark does not start without the other one. */
  private def needed(planned: Long): Seq[Long] =
    Seq(planned max batch, (planned max batch) - 1).filter(_ >= 0)

  // ---- refusals ----

  private def refusal(
      subClass: String,
      parameters: (String, String)*
  ): StreamJoinAnalysisException = StateErrors.rescale(subClass, location, parameters: _*)

  private def refuse(planned: Long): Unit = {
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
    for (entry <- needed(planned).diff(files.batches(DIR_NAME_OFFSETS)).headOption)
      throw refusal("MISSING_OFFSETS", "batch" -> entry.toString)
    for ((operator, name) <- stored.others)
      throw refusal("OTHER_OPERATOR", "operator" -> operator.toString, "name" -> name)
    if (stored.of(None).forall(_.partitions == partitions))
      throw refusal("SAME_PARTITIONS", "partitions" -> partitions.toString)
  }

  private def requireUnchanged(planned: Long): Unit = {
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

  private def describe(job: String): Unit = session.sparkContext.setJobDescription(job)
}

/** The entry point. */
object Rescale {

  /** @return a line for each join and ordered output */
  def apply(session: SparkSession, checkpoint: String, to: String, partitions: Int): Seq[String] = {
    val own = session.asInstanceOf[classic.SparkSession]
    val before = own.sparkContext.getLocalProperty(Description)
    try own.withActive(new Rescale(own, checkpoint, to, partitions).run())
    finally own.sparkContext.setJobDescription(before)
  }

  private val Description = "spark.job.description"
}
