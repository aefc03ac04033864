package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.{HashMap, UUID}
import java.util.concurrent.atomic.AtomicReference

import org.apache.hadoop.conf.Configuration

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.{SQLConf, SessionState}
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
    val handedOut = RunScope.of(run).kept(HadoopSettings)(new AtomicReference[HandedOut])
    val context = session.sparkContext
    val (hadoops, sessions) = (context.hadoopConfiguration, session.sessionState.conf)
    val last = handedOut.get
    if (last != null && last.isOf(hadoops, sessions)) last.broadcast
    else {
      val broadcast =
        context.broadcast(
          new SerializableConfiguration(SessionState.newHadoopConf(hadoops, sessions))
        )
      handedOut.set(HandedOut(settingsOf(hadoops), sessions.getAllConfs, broadcast))
      broadcast
    }
  }

  private def settingsOf(conf: Configuration): HashMap[String, String] = {
    val settings = new HashMap[String, String](4096)
    conf.iterator.forEachRemaining(s => settings.put(s.getKey, s.getValue))
    settings
  }

  /** @param hadoops, sessions the settings from which the broadcast was built */
  private final case class HandedOut(
      hadoops: HashMap[String, String],
      sessions: Map[String, String],
      broadcast: Broadcast[SerializableConfiguration]
  ) {

    /**
     * Whether the settings are unchanged. This comparison is several times faster than building the
     * settings anew.
     */
    def isOf(conf: Configuration, session: SQLConf): Boolean = {
      val now = conf.iterator
      var same = session.getAllConfs == sessions
      var count = 0
      while (same && now.hasNext) {
        val setting = now.next()
        same = setting.getValue == hadoops.get(setting.getKey)
        count += 1
      }
      same && count == hadoops.size
    }
  }
}
