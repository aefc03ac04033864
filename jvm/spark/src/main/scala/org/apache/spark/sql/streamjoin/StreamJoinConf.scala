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

  val StateFormat: ConfigEntry[String] =
    SQLConf
      .buildConf("spark.sql.streamJoin.stateFormat")
      .doc(
        "Where a stream-to-stream join keeps the rows that it holds back: 'segments', in memory, and on " +
          "the local disk beyond segmentMemory, what a batch brought being one file of the checkpoint; " +
          "or 'rocksdb', on the local disk. A checkpoint of 'segments' goes on in " +
          "'rocksdb' where the query is started again with it, not the other way round."
      )
      .version("0.1.0")
      .stringConf
      .checkValues(Set("segments", "rocksdb"))
      .createWithDefault("segments")

  val SegmentMemory: OptionalConfigEntry[Long] =
    SQLConf
      .buildConf("spark.sql.streamJoin.segmentMemory")
      .doc(
        "How much memory of an executor the rows that stream-to-stream joins hold back in the format " +
          "'segments' may take between two batches, all joins and partitions together. Beyond it the " +
          "rows themselves go to the local disk (spark.local.dir); what they are found by, some 60 to " +
          "110 bytes a row, stays. Not set: 30 % of the executor's heap. It counts from the next start " +
          "of a query on."
      )
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val Retention: OptionalConfigEntry[String] =
    SQLConf
      .buildConf("spark.sql.streamJoin.retention")
      .doc(
        "For how long a stream-to-stream join keeps rows that its condition does not bound: an interval " +
          "such as '1 hour' where the event times are times, a whole number where they are numbers. The " +
          "inequality that is missing is added to the condition and shown by explain. Not set: such joins " +
          "are refused with STREAM_JOIN.UNBOUNDED_STATE."
      )
      .version("0.1.0")
      .stringConf
      .createOptional

  val TimeBuckets: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.sql.streamJoin.timeBuckets")
      .doc(
        "Whether a stream-to-stream join without an equality, whose time bounds keep partners within a " +
          "distance that is the same for all, sends each row to the task of its time, and near the edge " +
          "of a bucket of time to one more. Otherwise one input, of a full join both, is copied to all " +
          "tasks. It counts when a query is started with a new checkpoint; one with a checkpoint goes on " +
          "as it began."
      )
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val HotKeys: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.sql.streamJoin.hotKeys")
      .doc(
        "Whether rows of a key that has very many of them (hotKeyRows) are spread over the tasks of a " +
          "stream-to-stream join by their times, where its time bounds keep partners within a distance that " +
          "is the same for all. A key that is spread stays so in its checkpoint; 'false' adds no more. It " +
          "counts from the next start of a query on."
      )
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val HotKeyRows: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.sql.streamJoin.hotKeyRows")
      .doc(
        "How many rows of a batch, of both inputs together, a key of a stream-to-stream join must have to be " +
          "spread over its tasks (hotKeys). Its task must also be done in 3/5 of its time by that. It " +
          "counts from the next start of a query on."
      )
      .version("0.1.0")
      .longConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(20000L)

  val HotKeyBuckets: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.sql.streamJoin.hotKeyBuckets")
      .doc(
        "How many buckets of time the rows of a batch must span for a key of a stream-to-stream join to be " +
          "spread over its tasks (hotKeys). Of a batch that spans few, one task would have most rows of the key " +
          "at a time. 0: a key with hotKeyRows is spread whatever that brings, so that at least what is " +
          "buffered is spread in the long run. It counts from the next start of a query on."
      )
      .version("0.1.0")
      .intConf
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(4)

  val StreamExchange: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.sql.streamJoin.streamExchange")
      .doc(
        "Whether this project's exchange brings rows to the partitions of its operators: it sends all inputs of an " +
          "operator through one shuffle, packed into chunks of many rows each, and few rows travel with the results " +
          "of tasks and not in files. Otherwise Spark's own exchange does. Each row goes to the same partition."
      )
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

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
    StreamExchange
  )
}
