package io.streamjoin.model

import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite

/** The hash is that of Kafka's client, of which these are the values that its own tests expect. */
class TopicPartitionerSuite extends AnyFunSuite {

  private val known = Seq(
    "21" -> -973932308,
    "foobar" -> -790332482,
    "a-little-bit-long-string" -> -985981536,
    "a-little-bit-longer-string" -> -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8" -> -58897971,
    "abc" -> 479470107
  )

  test("the hash of keys of every length modulo four") {
    for ((key, hash) <- known) assert(TopicPartitioner.murmur2(key.getBytes(UTF_8)) == hash, key)
  }

  test("a negative hash gives a partition too") {
    for ((key, hash) <- known; partitions <- Seq(1, 2, 3, 12)) {
      val expected = (hash.toLong & 0x7fffffffL) % partitions
      assert(TopicPartitioner.partitionOf(key.getBytes(UTF_8), partitions) == expected)
    }
  }
}
