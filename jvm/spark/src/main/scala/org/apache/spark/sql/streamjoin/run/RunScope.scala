package org.apache.spark.sql.streamjoin.run

import java.util.{LinkedHashMap, Map => JavaMap, UUID}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

/**
 * Cache of a process for one run of a query, across batches. All values can be created again.
 *
 * On the driver, the scope is removed when Spark reports the end of the run. Executors get no such
 * report: there, a run that begins removes the scopes of ended runs. A use after the end creates
 * the scope again, so only the most recently used scopes remain.
 */
private[streamjoin] final class RunScope private () {

  private val values = mutable.Map.empty[Any, Any]

  /** @param first creates the value if the key has none */
  def kept[V](key: Any)(first: => V): V = synchronized {
    values.getOrElseUpdate(key, first).asInstanceOf[V]
  }

  def get[V](key: Any): Option[V] = synchronized(values.get(key).map(_.asInstanceOf[V]))

  def all: Seq[(Any, Any)] = synchronized(values.toSeq)

  private def close(): Unit = all.foreach {
    case (_, value: AutoCloseable) => value.close()
    case _                         => ()
  }
}

private[streamjoin] object RunScope {

  private val Most = 256

  private val scopes = new LinkedHashMap[UUID, RunScope](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JavaMap.Entry[UUID, RunScope]): Boolean = size > Most
  }

  def of(run: UUID): RunScope = scopes.synchronized {
    scopes.computeIfAbsent(run, _ => new RunScope)
  }

  /** The scope of a run, if this process has one. */
  def find(run: UUID): Option[RunScope] = scopes.synchronized(Option(scopes.get(run)))

  /** Removes a scope, and closes those of its values that can be closed. */
  def ended(run: UUID): Unit =
    Option(scopes.synchronized(scopes.remove(run))).foreach(_.close())

  /** Removes the scopes of the runs that have ended. */
  def end(hasEnded: UUID => Boolean): Unit =
    scopes.synchronized(scopes.keySet.asScala.toSeq).filter(hasEnded).foreach(ended)

  /** The number of runs with a scope in this process. */
  def runs: Int = scopes.synchronized(scopes.size)
}

/** Registry of one value per stateful operator, in the [[RunScope]] of its query. */
private[streamjoin] final class PerOperator[V] {
  import PerOperator._

  /** @param first creates the value of an operator without one */
  def of(info: StatefulOperatorStateInfo)(first: => V): V =
    RunScope.of(info.queryRunId).kept(place(info))(first)

  /**
   * The same while a plan is made. A plan that is only explained, or compared with a checkpoint,
   * has a run that never begins, whose value is not kept.
   */
  def planned(info: StatefulOperatorStateInfo, session: SparkSession)(first: => V): V = {
    val runs = session.sharedState.activeStreamingQueries.values.asScala.map(_.runId)
    if (runs.exists(_ == info.queryRunId)) of(info)(first) else first
  }

  /** The value of an operator; none: it has none, or its run has ended. */
  def find(info: StatefulOperatorStateInfo): Option[V] =
    RunScope.find(info.queryRunId).flatMap(_.get(place(info)))

  private def place(info: StatefulOperatorStateInfo) =
    Place(this, info.checkpointLocation, info.operatorId)

  /** The values of all operators of a run, the topmost operator first. */
  def ofRun(run: UUID): Seq[V] =
    RunScope.find(run).toSeq.flatMap(_.all).collect {
      case (Place(owner, _, operator), value) if owner eq this =>
        operator -> value.asInstanceOf[V]
    }.sortBy(-_._1).map(_._2)
}

private object PerOperator {

  private final case class Place(owner: PerOperator[_], location: String, operator: Long)
}
