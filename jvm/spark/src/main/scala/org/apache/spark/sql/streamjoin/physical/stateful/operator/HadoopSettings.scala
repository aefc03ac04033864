package org.apache.spark.sql.streamjoin.physical.stateful.operator

import java.util.{HashMap, UUID}
import java.util.concurrent.atomic.AtomicReference

import org.apache.hadoop.conf.Configuration

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SessionState
import org.apache.spark.sql.streamjoin.run.RunScope
import org.apache.spark.util.SerializableConfiguration

/**
 * Broadcast of the Hadoop settings with which tasks access a checkpoint.
 *
 * The settings have several hundred kilobytes, too much to serialize in every batch. A run
 * broadcasts them once, and again if a setting has changed, for example a credential.
 */
private[physical] object HadoopSettings {

  def broadcast(session: SparkSession, run: UUID): Broadcast[SerializableConfiguration] = {
    val context = session.sparkContext
    val (hadoops, sessions) = (context.hadoopConfiguration, session.sessionState.conf)
    // to compare these is several times faster than to merge them
    val settings = (settingsOf(hadoops), sessions.getAllConfs)
    RunScope.of(run).kept(HadoopSettings)(new AtomicReference[HandedOut]).updateAndGet { last =>
      if (last != null && last.settings == settings) last
      else {
        val merged = SessionState.newHadoopConf(hadoops, sessions)
        HandedOut(settings, context.broadcast(new SerializableConfiguration(merged)))
      }
    }.broadcast
  }

  private def settingsOf(conf: Configuration): HashMap[String, String] = {
    val settings = new HashMap[String, String](4096)
    conf.iterator.forEachRemaining(s => settings.put(s.getKey, s.getValue))
    settings
  }

  /** @param settings those from which the broadcast was built */
  private final case class HandedOut(
      settings: (HashMap[String, String], Map[String, String]),
      broadcast: Broadcast[SerializableConfiguration]
  )
}
