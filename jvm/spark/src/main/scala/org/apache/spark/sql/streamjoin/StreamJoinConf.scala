package org.apache.spark.sql.streamjoin

import org.apache.spark.internal.config.{ConfigEntry, OptionalConfigEntry}
import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.internal.SQLConf

/** The project's settings. */
private[sql] object StreamJoinConf {

  val ReplaceBuiltin: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.sql.streamJoin.replaceBuiltin")
      .doc(
        "Whether streamjoin replaces Spark's stream-stream join of inputs that only have " +
          "Spark's watermarks. It replaces a join whose condition bounds the state. Otherwise " +
          "Spark executes the join, and explain shows the reason. Spark reads this setting when " +
          "it analyzes the query: when you create the DataFrame, and at the latest when the query " +
          "starts."
      )
      .version("0.1.0")
      .booleanConf
      .createWithDefault(false)

  val MaxBufferedRows: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.sql.streamJoin.maxBufferedRows")
      .doc(
        "The maximum number of rows that one partition of a stream-to-stream join may buffer at " +
          "the end of a batch. Above this number the query fails with " +
          "STREAM_JOIN.BUFFER_LIMIT_EXCEEDED. 0 means no limit."
      )
      .version("0.1.0")
      .longConf
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(0L)

  val StateFormat: ConfigEntry[String] =
    SQLConf
      .buildConf("spark.sql.streamJoin.stateFormat")
      .doc(
        "Where a stream-to-stream join buffers rows. 'segments': in memory, and on the local " +
          "disk beyond segmentMemory; each batch adds one file to the checkpoint. 'rocksdb': on " +
          "the local disk. A query with a checkpoint of 'segments' can restart with 'rocksdb', " +
          "but not the other way round."
      )
      .version("0.1.0")
      .stringConf
      .checkValues(Set("segments", "rocksdb"))
      .createWithDefault("segments")

  val SegmentMemory: OptionalConfigEntry[Long] =
    SQLConf
      .buildConf("spark.sql.streamJoin.segmentMemory")
      .doc(
        "The memory of an executor for rows that stream-to-stream joins buffer in the format " +
          "'segments' between two batches, for all joins and partitions together. Beyond this " +
          "limit, joins spill rows to the local disk (spark.local.dir). The index of the rows, " +
          "some 60 to 110 bytes a row, stays in memory. Default: 30 % of the executor's heap. A " +
          "change takes effect when a query starts."
      )
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val Retention: OptionalConfigEntry[String] =
    SQLConf
      .buildConf("spark.sql.streamJoin.retention")
      .doc(
        "How long a stream-to-stream join buffers rows that its condition does not bound: an " +
          "interval such as '1 hour' for times, or a whole number for numbers. The join adds the " +
          "missing inequality to the condition, and explain shows it. Default: the analyzer " +
          "refuses such joins with STREAM_JOIN.UNBOUNDED_STATE."
      )
      .version("0.1.0")
      .stringConf
      .createOptional

  val TimeBuckets: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.sql.streamJoin.timeBuckets")
      .doc(
        "Whether a stream-to-stream join without an equality distributes rows by time buckets. " +
          "This requires time bounds with a constant distance. A row is sent to one task, and " +
          "near the edge of a bucket to two. Otherwise the join copies one input, or both for a " +
          "full join, to all tasks. A change takes effect with a new checkpoint only."
      )
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val HotKeys: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.sql.streamJoin.hotKeys")
      .doc(
        "Whether a stream-to-stream join spreads the rows of a hot key (hotKeyRows) over its " +
          "tasks by time. This requires time bounds with a constant distance. A key remains " +
          "spread in its checkpoint, and 'false' spreads no further keys. A change takes effect " +
          "when a query starts."
      )
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val HotKeyRows: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.sql.streamJoin.hotKeyRows")
      .doc(
        "The number of rows in a batch, of both inputs together, from which a stream-to-stream " +
          "join spreads a key over its tasks (hotKeys). The spread must also reduce the time of " +
          "the key's task to 3/5. A change takes effect when a query starts."
      )
      .version("0.1.0")
      .longConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(20000L)

  val HotKeyBuckets: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.sql.streamJoin.hotKeyBuckets")
      .doc(
        "The number of time buckets that a batch must span before a stream-to-stream join " +
          "spreads a key over its tasks (hotKeys). In a batch with few buckets, one task would " +
          "process most rows of the key. 0: the join spreads each key with hotKeyRows, so the " +
          "buffered rows are spread in the long run. A change takes effect when a query starts."
      )
      .version("0.1.0")
      .intConf
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(4)

  val StreamExchange: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.sql.streamJoin.streamExchange")
      .doc(
        "Whether streamjoin's exchange distributes rows over the partitions of its operators. " +
          "It sends all inputs of an operator through one shuffle, in chunks of many rows. It " +
          "sends few rows with the results of tasks, without files. Otherwise Spark's exchange " +
          "distributes the rows. Both send each row to the same partition."
      )
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MaxWatermarkGroups: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.sql.streamJoin.maxWatermarkGroups")
      .doc(
        "The maximum number of groups of an event-time column whose order is imposed with 'per'. " +
          "Each task knows the watermarks of all groups. Above this number the query fails with " +
          "STREAM_JOIN.TOO_MANY_WATERMARK_GROUPS."
      )
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(10000)

  /** All of them. */
  val all: Seq[ConfigEntry[_]] = Seq(
    ReplaceBuiltin,
    MaxBufferedRows,
    StateFormat,
    SegmentMemory,
    Retention,
    TimeBuckets,
    HotKeys,
    HotKeyRows,
    HotKeyBuckets,
    StreamExchange,
    MaxWatermarkGroups
  )
}
