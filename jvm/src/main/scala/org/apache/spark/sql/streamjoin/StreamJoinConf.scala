package org.apache.spark.sql.streamjoin

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** The project's settings. */
private[sql] object StreamJoinConf {

  val MaxBufferedRows: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.sql.streamJoin.maxBufferedRows")
      .doc(
        "How many rows one partition of a stream-to-stream join may hold back at the end of a batch. " +
          "Beyond it the query fails with STREAM_JOIN.BUFFER_LIMIT_EXCEEDED. 0 means no limit."
      )
      .version("0.1.0")
      .longConf
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(0L)
}
