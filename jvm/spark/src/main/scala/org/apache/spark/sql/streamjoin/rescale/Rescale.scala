package org.apache.spark.sql.streamjoin.rescale

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.streamjoin.rewrite.{CheckpointRewrite, StateWriter}

/**
 * Writes a new checkpoint of a stopped query, with another number of partitions. The query continues
 * from it as if it had started with this number.
 *
 * Step 2 checks the keys of all rows, and compares the partitions.
 */
private[rescale] final class Rescale(
    session: classic.SparkSession,
    location: String,
    target: String,
    override protected val partitions: Int
) extends CheckpointRewrite(session, location, target) {

  /** @return a line for each operator */
  def run(): Seq[String] = {
    refuseLocations()
    val joins = stored.of(None)
    if (joins.forall(_.partitions == partitions))
      throw refusal("SAME_PARTITIONS", "partitions" -> partitions.toString)
    val writer = new StateWriter(session, partitions)
    val plans = joins.map { join =>
      describe(s"read operator ${join.operator}")
      new OperatorPlanner(session, writer, joins, join, partitions, location).plan()
    }
    val ids = plans.flatMap { plan =>
      describe(s"rescale operator ${plan.join.operator}")
      plan.write(writer, files, batch).map(plan.join.operator -> _)
    }
    complete(ids.toMap, files.sources.map(name => name -> name))
    plans.map(_.told)
  }
}

/** The entry point. */
object Rescale {

  /** @return a line for each join and ordered output */
  def apply(session: SparkSession, checkpoint: String, to: String, partitions: Int): Seq[String] =
    CheckpointRewrite.in(session)(new Rescale(_, checkpoint, to, partitions).run())
}
