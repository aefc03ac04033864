package org.apache.spark.sql.streamjoin.run

import java.util.WeakHashMap

import scala.collection.mutable

import org.apache.spark.SparkContext

/** What an application does once, however many sessions and queries it has. */
private[streamjoin] object OncePerApplication {

  private val done = new WeakHashMap[SparkContext, mutable.Set[Any]]

  /** The application that runs, where it has not done this before. */
  def first(what: Any): Option[SparkContext] = done.synchronized {
    SparkContext.getActive.filter(done.computeIfAbsent(_, _ => mutable.Set.empty).add(what))
  }
}
