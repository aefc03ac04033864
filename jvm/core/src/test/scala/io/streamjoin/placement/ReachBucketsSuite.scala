package io.streamjoin.placement

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/** Placement of rows by time bucket, computed without running a join. */
class ReachBucketsSuite extends AnyFunSuite {

  private def distance(random: Random): Long = {
    val bits = random.nextInt(58)
    random.nextLong() & ((1L << bits) - 1)
  }

  /** Times near zero, near the limits of Long, and random ones. */
  private def time(random: Random): Long = random.nextInt(4) match {
    case 0 => random.nextInt(100).toLong - 50
    case 1 => Long.MaxValue - random.nextInt(100)
    case 2 => Long.MinValue + random.nextInt(100)
    case _ => random.nextLong()
  }

  private def places(routing: Routing.ByTime, side: Side, time: Long, partitions: Int): Seq[Int] =
    routing.buckets.owner(side, time, partitions) +:
      replica(routing, side, time, partitions).toList

  private def replica(routing: Routing.ByTime, side: Side, time: Long, partitions: Int) =
    Some(routing.replica(side, Routing.NoKey, time, partitions, ReachBuckets.NoPartition))
      .filter(_ != ReachBuckets.NoPartition)

  for (single <- Seq(None, Some(Side.Left), Some(Side.Right)))
    test(
      s"rows that can match meet at an owner, unreplicated input: ${single.fold("none")(_.name)}"
    ) {
      RandomCases.forAll(3000) { random =>
        val before = distance(random) * (if (random.nextInt(4) == 0) -1 else 1)
        val after = math.max(distance(random), -before)
        val partitions = 1 + random.nextInt(9)
        val routing =
          Routing.ByTime(single, ReachBuckets.of(before, after, bothCopied = single.isEmpty).get)
        for (_ <- 1 to 20) {
          val l = time(random)
          val between = BigInt(-before) + BigInt(63, random) % (BigInt(before) + after + 1)
          val sum = random.nextInt(3) match {
            case 0 => BigInt(l) - before
            case 1 => BigInt(l) + after
            case _ => BigInt(l) + between
          }
          for (r <- Some(sum).filter(_.isValidLong).map(_.toLong)) {
            val times = Map[Side, Long](Side.Left -> l, Side.Right -> r)
            val at = times.map { case (side, t) => side -> places(routing, side, t, partitions) }
            withClue(onFailure(s"$routing, $partitions partitions, $l, $r: $at ")) {
              for ((side, places) <- at) {
                assert(places.distinct == places && places.length <= 2)
                assert(places.forall(p => p >= 0 && p < partitions))
                if (single.contains(side)) assert(places.length == 1)
                val replica = places.tail
                for (p <- 0 until partitions if places.contains(p)) {
                  val here = Placement(routing, p, partitions)
                  val owns = here.owns(side, Routing.NoKey, times(side), ReachBuckets.NoPartition)
                  assert(owns == !replica.contains(p))
                  assert(owns || here.mayMeetReplicas(side))
                }
              }
              // a row meets its partner in its own partition, so both know of the pair and one
              // emits it
              for (side <- single.map(Seq(_)).getOrElse(Side.both))
                assert(at(side.other).contains(at(side).head))
            }
          }
        }
      }
    }

  test("half of one input or a quarter of both inputs is replicated, at any distance") {
    val random = new Random(1)
    for (
      reach <- Seq(1L, 10L, 5000000L); (single, most) <- Seq(Some(Side.Left) -> 0.55, None -> 0.3)
    ) {
      val routing = Routing.ByTime(single, ReachBuckets.of(reach, reach, single.isEmpty).get)
      val rows = 10000
      val replicas = Seq.fill(rows)(random.nextLong() >> 10)
        .count(replica(routing, Side.Right, _, 8).nonEmpty)
      assert(replicas < most * rows, s"$reach, $single")
    }
  }

  test("rows that match at a single distance need no replicas") {
    val buckets = ReachBuckets.of(-5, 5, bothCopied = true).get
    for (time <- -20L to 20L; side <- Side.both)
      assert(buckets.replica(side, time, 3) == ReachBuckets.NoPartition)
    assert(buckets.owner(Side.Left, 7, 5) == buckets.owner(Side.Right, 12, 5))
  }

  test("as many consecutive buckets as partitions use each partition once") {
    for (partitions <- 1 to 9; first <- Seq(0L, -9L, 45L)) {
      val turn = first / partitions * partitions
      val found =
        (0L until partitions.toLong).map(b => ReachBuckets.partition(turn + b, partitions))
      assert(found.toSet == (0 until partitions).toSet)
    }
  }

  test("bucket numbers that are multiples of a unit use all partitions") {
    for (unit <- Seq(8L, 60L, 1000000L, 86400000000L)) {
      val found = (0L until 200L).map(i => ReachBuckets.partition(i * unit, 8)).groupBy(identity)
      assert(found.size == 8 && found.values.forall(_.length < 60), s"$unit")
    }
  }

  test("a distance that is too large or contradictory has no buckets") {
    for ((before, after) <- Seq((0L, Long.MaxValue), (Long.MaxValue / 4, 0L), (5L, -6L)))
      assert(ReachBuckets.of(before, after, bothCopied = true).isEmpty)
  }
}
