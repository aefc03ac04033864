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
 * Hadoop's settings, as tasks need them to reach a checkpoint. They are some hundred kilobytes that
 * would be written anew for every batch, a twentieth of what a small one costs: they are handed out
 * once in a query's run, and again where one of them has changed, as credentials do.
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

  /** @param hadoops, sessions the settings that were put together to what was handed out */
  private final case class HandedOut(
      hadoops: HashMap[String, String],
      sessions: Map[String, String],
      broadcast: Broadcast[SerializableConfiguration]
  ) {

    /** Some thousand settings, looked at in every batch: to put them together takes several times as long. */
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
