package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.sql.catalyst.trees.Origin

/** What joins of topics that are partitioned alike are refused for, when they are analysed and while they run. */
private[streamjoin] object CoPartitioningErrors {

  def unsupported(origin: Origin, reason: String, instead: String): StreamJoinAnalysisException =
    StreamJoinErrors.analysis(
      "UNSUPPORTED_CO_PARTITIONING",
      origin,
      "reason" -> reason,
      "instead" -> instead
    )

  /**
   * @param partition in which the row was found, of so many
   * @param key as it is shown
   * @param bytes how many the key has as it is written
   * @param expected the partition to which the key belongs
   */
  def misplacedRow(
      side: String,
      topics: String,
      partition: Int,
      partitions: Int,
      key: String,
      keyType: String,
      bytes: Int,
      expected: Int
  ): StreamJoinRuntimeException =
    new StreamJoinRuntimeException(
      "STREAM_JOIN.MISPLACED_ROW",
      Map(
        "side" -> side,
        "topics" -> topics,
        "partition" -> partition.toString,
        "partitions" -> partitions.toString,
        "key" -> key,
        "type" -> keyType,
        "bytes" -> bytes.toString,
        "expected" -> expected.toString
      )
    )

  /** @param instead what to do about it */
  def partitionCount(reason: String, instead: String): StreamJoinRuntimeException =
    new StreamJoinRuntimeException(
      "STREAM_JOIN.PARTITION_COUNT",
      Map("reason" -> reason, "instead" -> instead)
    )
}
