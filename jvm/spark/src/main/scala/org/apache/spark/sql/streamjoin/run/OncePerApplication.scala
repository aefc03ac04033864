package org.apache.spark.sql.streamjoin.run

import java.util.WeakHashMap

import scala.collection.mutable

import org.apache.spark.SparkContext

/** Registry of actions that an application runs once, in all its sessions and queries. */
private[streamjoin] object OncePerApplication {

  private val done = new WeakHashMap[SparkContext, mutable.Set[Any]]

  /** The running application, on the first call with this key; afterwards none. */
  def first(what: Any): Option[SparkContext] = done.synchronized {
    SparkContext.getActive.filter(done.computeIfAbsent(_, _ => mutable.Set.empty).add(what))
  }
}
