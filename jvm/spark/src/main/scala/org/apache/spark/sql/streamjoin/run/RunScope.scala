package org.apache.spark.sql.streamjoin.run

import java.util.{LinkedHashMap, Map => JavaMap, UUID}

import scala.collection.mutable

/**
 * What a process keeps of one run of a query, from batch to batch. It can all be made again.
 *
 * {{{
 *   driver     a run ends --> Spark reports it --> its scope is forgotten
 *   executor   hears of no end: the scopes of the runs that were asked for last are kept
 * }}}
 */
private[streamjoin] final class RunScope private () {

  private val values = mutable.Map.empty[Any, Any]

  /** @param first the value where nothing is kept under the key yet */
  def kept[V](key: Any)(first: => V): V = synchronized {
    values.getOrElseUpdate(key, first).asInstanceOf[V]
  }

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

  /** The scope of a run of which this process keeps something. */
  def find(run: UUID): Option[RunScope] = scopes.synchronized(Option(scopes.get(run)))

  def ended(run: UUID): Unit = scopes.synchronized {
    scopes.remove(run)
    ()
  }

  /** How many runs this process keeps something of. */
  def runs: Int = scopes.synchronized(scopes.size)
}
