package io.streamjoin.placement

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side
import io.streamjoin.model.Side.{Left, Right}

/**
 * Stored rows get the partitions that arriving rows get in a join with the new number of
 * partitions.
 */
class StoredRowTargetsSuite extends AnyFunSuite {

  private val buckets = ReachBuckets.of(5, 20, bothCopied = true).get

  private def targets(
      routing: Routing,
      n: Int,
      side: Side,
      time: Long,
      ofKey: Int
  ): Seq[(Int, Long)] = {
    val found = Seq.newBuilder[(Int, Long)]
    new StoredRowTargets(routing, n).foreach(side, 7L, time, s"row $time", ofKey) { (p, key) =>
      found += p -> key
    }
    found.result()
  }

  test("routing by key sends a stored row to the partition of its key") {
    assert(targets(Routing.ByKey, 5, Left, 0, 3) == Seq(3 -> 7L))
  }

  test("broadcast routing keeps a row of one input and sends the other to all partitions") {
    val routing = Routing.Broadcast(Left)
    assert(targets(routing, 3, Left, 0, 2) == Seq(2 -> 7L))
    assert(targets(routing, 3, Right, 0, 2) == Seq(0 -> 7L, 1 -> 7L, 2 -> 7L))
  }

  test("shared routing sends a row to all partitions with exactly one owner") {
    val found = targets(Routing.Shared, 4, Left, 12, 0)
    assert(found.map(_._1) == Seq(0, 1, 2, 3))
    assert(found.count(_._2 == Routing.NoKey) == 1)
    assert(found.count(_._2 == Routing.ReplicaKey) == 3)
  }

  test("routing by time sends a row to its owner first, then to its replica") {
    val random = new Random(1)
    for (_ <- 1 to 1000; single <- Seq(None, Some(Left)); side <- Side.both) {
      val (n, time) = (1 + random.nextInt(8), random.nextInt(10000).toLong)
      val routing = Routing.ByTime(single, buckets)
      val found = targets(routing, n, side, time, 0)
      assert(found.forall(_._2 == 7L))
      val none = ReachBuckets.NoPartition
      for (p <- 0 until n)
        assert(Placement(
          routing,
          p,
          n
        ).owns(side, 7L, time, none) == (n == 1 || found.head._1 == p || single.contains(side)))
      val replica = routing.replica(side, 7L, time, n, none)
      assert(found.tail.map(_._1) == Seq(replica).filter(_ != none))
      assert(found.map(_._1).distinct == found.map(_._1))
    }
  }

  test("a hot key uses its own partition before its first bucket, then the bucket's partition") {
    val hot = HotKeys(buckets, Seq(HotKey(7L, partition = 2, from = 10)))
    val routing = Routing.ByKeyAndTime(None, hot)
    assert(targets(routing, 5, Left, 0, 2) == Seq(2 -> 7L))
    val spread = (10L to 14L).map(b => targets(routing, 5, Left, b * buckets.width + 50, 2).head._1)
    assert(spread.distinct.length > 1)
    // another key with the same hash, in another partition
    assert(targets(routing, 5, Left, 12 * buckets.width + 50, 3) == Seq(3 -> 7L))
  }
}
