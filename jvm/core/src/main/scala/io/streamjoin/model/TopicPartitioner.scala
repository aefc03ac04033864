package io.streamjoin.model

/**
 * Where a record with a key lies in a topic, if its producer has Kafka's own default: by the key's bytes alone.
 *
 * Source: `BuiltInPartitioner.partitionForKey` and `Utils.murmur2` of Kafka's Java client, which must never change
 * for the sake of the topics that there are.
 */
object TopicPartitioner {

  private val Seed = 0x9747b28c
  private val M = 0x5bd1e995

  /**
   * The number of the partition, from 0 on.
   *
   * @param key the record's key as it is written to the topic
   * @param partitions how many the topic has; more than 0
   */
  def partitionOf(key: Array[Byte], partitions: Int): Int =
    (murmur2(key) & Int.MaxValue) % partitions

  /** A hash of 32 bits, by words of four bytes, the lowest first. */
  private[model] def murmur2(bytes: Array[Byte]): Int = {
    def byte(i: Int): Int = bytes(i) & 0xff
    val words = bytes.length / 4
    var hash = Seed ^ bytes.length
    var word = 0
    while (word < words) {
      val at = word * 4
      var k = byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24
      k *= M
      k ^= k >>> 24
      k *= M
      hash = hash * M ^ k
      word += 1
    }
    val at = words * 4
    val left = bytes.length - at
    if (left == 3) hash ^= byte(at + 2) << 16
    if (left >= 2) hash ^= byte(at + 1) << 8
    if (left >= 1) hash = (hash ^ byte(at)) * M
    hash ^= hash >>> 13
    hash *= M
    hash ^ hash >>> 15
  }
}
