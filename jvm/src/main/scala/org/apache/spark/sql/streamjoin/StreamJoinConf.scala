package org.apache.spark.sql.streamjoin

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** The project's settings. */
private[sql] object StreamJoinConf {

  val ReplaceBuiltin: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.sql.streamJoin.replaceBuiltin")
      .doc(
        "Whether a join of two streams that carry Spark's own watermarks only becomes this project's " +
          "join, wherever its condition bounds the state. Elsewhere the join stays Spark's, and " +
          "explain says why. It counts as it is set when a query is analysed: when a DataFrame is " +
          "made of the join, and at the latest when the query starts."
      )
      .version("0.1.0")
      .booleanConf
      .createWithDefault(false)

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
