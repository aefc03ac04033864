package org.apache.spark.sql.streamjoin.run

import java.util.{LinkedHashMap, Map => JavaMap, UUID}

import scala.collection.mutable

/**
 * Cache of a process for one run of a query, across batches. All values can be created again.
 *
 * {{{
 *   driver     Spark reports the end of a run --> its scope is removed
 *   executor   no such report: the most recently used scopes remain
 * }}}
 */
private[streamjoin] final class RunScope private () {

  private val values = mutable.Map.empty[Any, Any]

  /** @param first creates the value if the key has none */
  def kept[V](key: Any)(first: => V): V = synchronized {
    values.getOrElseUpdate(key, first).asInstanceOf[V]
  }

  def get[V](key: Any): Option[V] = synchronized(values.get(key).map(_.asInstanceOf[V]))

  def all: Seq[(Any, Any)] = synchronized(values.toSeq)
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

  def ended(run: UUID): Unit = scopes.synchronized {
    scopes.remove(run)
    ()
  }

  /** The number of runs with a scope in this process. */
  def runs: Int = scopes.synchronized(scopes.size)
}
