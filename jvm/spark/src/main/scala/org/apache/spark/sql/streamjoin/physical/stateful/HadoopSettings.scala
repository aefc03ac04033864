package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.{HashMap, WeakHashMap}

import org.apache.hadoop.conf.Configuration

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SessionState
import org.apache.spark.util.SerializableConfiguration

/**
 * Hadoop's settings, as tasks need them to reach a checkpoint. They are some hundred kilobytes that
 * would be written anew for every batch, a twentieth of what a small one costs: they are handed out
 * once in a query's run, and again where one of them has changed, as credentials do.
 */
private[physical] object HadoopSettings {

  /** A run of a query has a session of its own. */
  private val handedOut = new WeakHashMap[SparkSession, HandedOut]

  def broadcast(session: SparkSession): Broadcast[SerializableConfiguration] = synchronized {
    val context = session.sparkContext
    val now = SessionState.newHadoopConf(context.hadoopConfiguration, session.sessionState.conf)
    val settings = settingsOf(now)
    val last = handedOut.get(session)
    if (last != null && last.settings == settings) last.broadcast
    else {
      val broadcast = SerializableConfiguration.broadcast(context, now)
      handedOut.put(session, HandedOut(settings, broadcast))
      broadcast
    }
  }

  /** Some thousand, looked at in every batch: one of Scala's maps takes several times as long to make. */
  private def settingsOf(conf: Configuration): HashMap[String, String] = {
    val settings = new HashMap[String, String](4096)
    conf.iterator.forEachRemaining(s => settings.put(s.getKey, s.getValue))
    settings
  }

  private final case class HandedOut(
      settings: HashMap[String, String],
      broadcast: Broadcast[SerializableConfiguration]
  )
}
