package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import java.util.UUID

import scala.jdk.CollectionConverters._

/** What is known of each stateful operator in one run of its query; on the driver. Of runs long gone it is forgotten. */
private[physical] final class OperatorsOfRuns[V] {
  import OperatorsOfRuns._

  private val known = new java.util.LinkedHashMap[Operator, V](16, 0.75f, true) {
    override def removeEldestEntry(eldest: java.util.Map.Entry[Operator, V]): Boolean =
      size > Remembered
  }

  /** @param first what is known of an operator that is asked for the first time */
  def of(info: StatefulOperatorStateInfo)(first: => V): V = synchronized {
    known.computeIfAbsent(
      Operator(info.queryRunId, info.checkpointLocation, info.operatorId),
      _ => first
    )
  }

  /** What is known of all operators of a run, the one on top first. */
  def ofRun(run: UUID): Seq[V] = synchronized {
    known.asScala.toSeq.collect { case (o, value) if o.run == run => o.id -> value }
      .sortBy(-_._1).map(_._2)
  }
}

private object OperatorsOfRuns {

  /** So many operators; one that is not is looked at anew. */
  private val Remembered = 256

  private final case class Operator(run: UUID, location: String, id: Long)
}
