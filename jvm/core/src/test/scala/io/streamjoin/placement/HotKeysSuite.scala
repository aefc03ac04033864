package io.streamjoin.placement

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/** Placement of the rows of hot keys, computed without running a join. */
class HotKeysSuite extends AnyFunSuite {

  test("two rows of a hot key that can match meet in an owner's partition, at any bucket edge") {
    RandomCases.forAll(3000) { random =>
      val (before, after) = (random.nextInt(20).toLong - 5, random.nextInt(20).toLong + 5)
      val single = Seq(None, Some(Side.Left), Some(Side.Right))(random.nextInt(3))
      val partitions = 1 + random.nextInt(7)
      val own = random.nextInt(partitions)
      val from = random.nextInt(9).toLong - 4
      val usual = ReachBuckets.of(before, after, bothCopied = single.isEmpty).get
      val least = if (random.nextBoolean()) usual else usual.copy(width = 2 + 2 * usual.reach)
      val wider = 1 + random.nextInt(3)
      val buckets = least.wider(wider)
      val routing =
        Routing.ByKeyAndTime(single, HotKeys(least, Seq(HotKey(7L, own, from, wider))))
      for (_ <- 1 to 20) {
        val near = from * buckets.width + random.nextInt(4 * buckets.width.toInt) - buckets.width
        val l = near - random.nextInt(3) * buckets.width
        val r = l - before + random.nextInt((before + after).toInt + 1)
        val times = Map[Side, Long](Side.Left -> l, Side.Right -> r)
        val at = times.map { case (side, t) =>
          val home = routing.owner(side, 7L, t, partitions, own)
          val replica = routing.replica(side, 7L, t, partitions, own)
          side -> ((if (home == ReachBuckets.NoPartition) own else home) +:
            Seq(replica).filter(_ != ReachBuckets.NoPartition))
        }
        withClue(onFailure(s"$routing, $partitions partitions, $l, $r: $at ")) {
          for ((side, places) <- at) {
            assert(places.distinct == places && places.length <= 2)
            if (single.contains(side)) assert(places.length == 1)
            // rows buffered before the key was hot stay, and no row before its first bucket is
            // replicated
            if (buckets.bucketOf(side, times(side)) < from) assert(places == Seq(own))
            for (p <- places) {
              val here = Placement(routing, p, partitions)
              val owns = here.owns(side, 7L, times(side), own)
              assert(owns == !places.tail.contains(p))
              assert(owns || here.mayMeetReplicas(side))
            }
          }
          for (side <- single.map(Seq(_)).getOrElse(Side.both))
            assert(at(side.other).contains(at(side).head))
        }
      }
    }
  }

  test("no row is replicated at the first bucket edge, and half of one input at later edges") {
    val buckets = ReachBuckets(0, 5, 20)
    val routing = Routing.ByKeyAndTime(Some(Side.Left), HotKeys(buckets, Seq(HotKey(7L, 1, 3))))
    def replicas(times: Range) =
      times.count(routing.replica(Side.Right, 7L, _, 4, 1) != ReachBuckets.NoPartition)
    assert(replicas(0 until 70) == 0)
    assert(replicas(75 until 80) == 5 && replicas(80 until 85) == 5)
    assert(replicas(80 until 2080) > 800 && replicas(80 until 2080) <= 1000)
    assert((0 until 2080).forall(routing.replica(
      Side.Left,
      7L,
      _,
      4,
      1
    ) == ReachBuckets.NoPartition))
  }

  test("consecutive buckets of a hot key use all partitions evenly") {
    val buckets = ReachBuckets(0, 5, 20)
    for (partitions <- 1 to 8) {
      val hot = HotKeys(buckets, Seq(HotKey(1L, partitions - 1, 16)))
      val found =
        (320L until 8000L by 20L)
          .map(hot.owner(Side.Left, 1L, _, partitions, partitions - 1))
      assert(found.groupBy(identity).values.forall(_.length >= 384 / partitions - 2))
      assert(found.head == partitions - 1)
    }
  }

  test("a key with the hash of a hot key but another partition is not spread") {
    val hot = HotKeys(ReachBuckets(0, 5, 20), Seq(HotKey(7L, 1, 3)))
    val times = 60L to 400L
    assert(times.exists(hot.replica(Side.Left, 7L, _, 4, 1) != ReachBuckets.NoPartition))
    assert(times.forall(hot.owner(Side.Left, 7L, _, 4, 1) != ReachBuckets.NoPartition))
    assert(times.forall(hot.owner(Side.Left, 7L, _, 4, 2) == ReachBuckets.NoPartition))
    assert(times.forall(hot.replica(Side.Left, 7L, _, 4, 2) == ReachBuckets.NoPartition))
    // without a known partition, a row counts as one of the hot key
    for (t <- times)
      assert(
        hot.owner(Side.Left, 7L, t, 4, ReachBuckets.NoPartition) ==
          hot.owner(Side.Left, 7L, t, 4, 1)
      )
  }

  test("a set of hot keys contains each of its hashes and no other") {
    RandomCases.forAll(200) { random =>
      val hashes = Seq.fill(random.nextInt(200))(random.nextLong() >> random.nextInt(60)).distinct
      val hot = HotKeys(ReachBuckets(0, 5, 20), Nil) ++ hashes.map(HotKey(_, 0, 0))
      assert(hot.size == hashes.length && hashes.forall(hot.contains))
      for (_ <- 1 to 20) {
        val other = random.nextLong() >> random.nextInt(60)
        assert(hot.contains(other) == hashes.contains(other))
        if (!hot.contains(other)) {
          assert(hot.owner(
            Side.Left,
            other,
            100,
            5,
            ReachBuckets.NoPartition
          ) == ReachBuckets.NoPartition)
          assert(hot.replica(
            Side.Left,
            other,
            100,
            5,
            ReachBuckets.NoPartition
          ) == ReachBuckets.NoPartition)
        }
      }
    }
  }

  test("buckets of width one are refused, and bucket numbers never wrap around") {
    assertThrows[IllegalArgumentException](HotKeys(ReachBuckets(0, 0, 1), Nil))
    assert(ReachBuckets.of(5, -5, bothCopied = false).get.width == 2)
    for (shift <- Seq(-ReachBuckets.Farthest, ReachBuckets.Farthest); side <- Side.both) {
      val buckets = ReachBuckets(shift, 0, 2)
      val numbers = Seq(Long.MinValue, -1L, 0L, Long.MaxValue).map(buckets.bucketOf(side, _))
      assert(numbers == numbers.sorted)
    }
  }
}
