package io.streamjoin.join.eventtime

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.{HotKey, HotKeys, ReachBuckets}

/** Counts of the heaviest keys of a task, and the rule that spreads hot keys. */
class KeyLoadSuite extends AnyFunSuite {

  private val none = HotKeys(ReachBuckets(0, 5, 20), Nil)

  private def seen(keys: Iterator[Long]): KeyLoad = {
    val load = KeyLoad.empty
    keys.foreach(load.see(Side.Left, _, 0L, replica = false))
    load
  }

  test("the count of a heavy key is within the error bound, random or in turns") {
    val random = new Random(1)
    val rows = 100000
    for (share <- Seq(0.2, 0.5, 0.9)) {
      val drawn =
        seen(Iterator.fill(rows)(if (random.nextDouble() < share) 7L else random.nextLong()))
      // at most the drawn rows, except for noise, and less by what other keys displaced
      assert(drawn.heaviest(7L) < rows * share * 1.05, s"$share")
      assert(drawn.heaviest(7L) > rows * (share - 1.0 / KeyLoad.Counters) * 0.95, s"$share")
    }
    for (turns <- Seq(2, 4, 8)) {
      val regular = seen(Iterator.range(0, rows).map(i => (i % turns).toLong))
      assert(regular.heaviest.keySet == (0L until turns.toLong).toSet)
      assert(regular.heaviest.values.forall(n => math.abs(n * turns - rows) < rows / 10))
    }
  }

  test("a key is heavy also if all its rows follow those of many light keys") {
    val rows = 20000
    val load = seen(Iterator.range(0, rows).map(_.toLong) ++ Iterator.fill(rows)(-7L))
    assert(load.heaviest(-7L) > rows * (1 - 2.0 / KeyLoad.Counters) * 0.95)
  }

  test("the latest time of an input is the largest, in any order of arrival") {
    for (times <- Seq(5L, 30L, 20L).permutations) {
      val load = new KeyLoad(BySide(10L, 40L))
      for (side <- Side.both; time <- times) load.see(side, 7L, time, replica = false)
      assert(load.latest == BySide(30L, 40L))
    }
  }

  test("a million light keys have counts below 200") {
    val all = seen(Iterator.tabulate(1000000)(i => i.toLong * 31))
    assert(all.seen == 1000000 && all.heaviest.values.forall(_ < 200))
  }

  test("replicas affect only the latest time") {
    val load = new KeyLoad(BySide(10L, 20L))
    for (i <- 0 to 100) load.see(Side.Right, 7L, i.toLong, replica = true)
    assert(load.seen == 0 && load.heaviest.isEmpty && load.latest == BySide(10L, 100L))
  }

  test("the time span is that of the input with the larger span") {
    val load = new KeyLoad(BySide(10L, Long.MaxValue))
    assert(load.span == 0)
    for (i <- 0 until 10000) {
      load.see(Side.Left, i.toLong, 100L + i, replica = false)
      load.see(Side.Right, i.toLong, 7L, replica = false)
    }
    assert(load.span > 9900 && load.span < 10000)
    for (i <- 0 to 1000; time <- Seq(Long.MinValue, Long.MaxValue))
      load.see(Side.Right, i.toLong, time, replica = false)
    assert(load.span == Long.MaxValue)
  }

  test("keys with more than half of a task's share are spread, from the next bucket on") {
    val loads = Seq(
      TaskLoad(0, 10000, Map(1L -> 6000L, 2L -> 900L), 60, BySide(95L, 130L)),
      TaskLoad(1, 2000, Map(3L -> 1900L), 40, BySide(Long.MinValue, 7L)),
      TaskLoad(2, 0, Map.empty, 0, BySide(Long.MinValue, Long.MinValue))
    )
    def found(minRows: Long, known: HotKeys = none, minBuckets: Int = 2) =
      HotKeyRule(minRows, minBuckets).found(loads, known, partitions = 3)
    assert(found(1000) == Seq(HotKey(1L, 0, 7)))
    assert(found(10000).isEmpty)
    assert(found(1000, none ++ Seq(HotKey(1L, 0, 2))).isEmpty)
    assert(HotKeyRule(1000, 0).found(loads, none, partitions = 4).map(_.hash) == Seq(1L, 3L))
    // spreading gains nothing if another task has more rows
    assert(HotKeyRule(1000, 2).found(loads, none, partitions = 4).map(_.hash) == Seq(1L))
    assert(HotKeyRule(1000, 2).found(loads, none, partitions = 1).isEmpty)
    // if a batch spans few buckets, one task has most rows of a key at a time
    assert(found(1000, minBuckets = 3).length == 1 && found(1000, minBuckets = 4).isEmpty)
  }

  test("a key with half of a task's share is not spread") {
    val loads = Seq(
      TaskLoad(0, 100, Map(1L -> 25L, 2L -> 26L), 60, BySide(95L, 130L)),
      TaskLoad(1, 100, Map.empty, 60, BySide(95L, 130L))
    )
    assert(HotKeyRule(1, 0).found(loads, none, partitions = 4).map(_.hash) == Seq(2L))
  }

  test("a key is spread if its task then has at most three fifths of its rows") {
    def isSpread(share: Double, partitions: Int, span: Long = 100) = {
      val (rows, others) = ((share * 100000).toLong, ((1 - share) * 100000 / partitions).toLong)
      val loads = (0 until partitions).map { p =>
        val own = if (p == 0) rows else 0L
        TaskLoad(p, own + others, Map(7L -> own), span, BySide(0L, 0L))
      }
      HotKeyRule(1000, 2).found(loads, none, partitions).nonEmpty
    }
    assert(!isSpread(1.0, 2))
    assert(!isSpread(0.4, 3) && isSpread(0.6, 3))
    assert(!isSpread(0.2, 4) && isSpread(0.4, 4))
    assert(!isSpread(0.03, 16) && isSpread(0.06, 16))
    // wider buckets have fewer replicas
    assert(!isSpread(0.7, 2, span = 20 * 64) && isSpread(0.8, 2, span = 20 * 64))
  }

  test("buckets get wider if a batch spans many buckets for each task") {
    def found(span: Long, latest: Long) = HotKeyRule(1000, 2).found(
      Seq(TaskLoad(0, 10000, Map(1L -> 10000L), span, BySide(latest, latest))),
      none,
      partitions = 4
    )
    assert(found(20 * 63, 95).map(k => (k.wider, k.from)) == Seq(1 -> 5L))
    assert(found(20 * 64, 95).map(k => (k.wider, k.from)) == Seq(2 -> 3L))
    assert(found(20 * 127, 95).map(_.wider) == Seq(2))
    assert(found(20 * 128, 95).map(k => (k.wider, k.from)) == Seq(4 -> 2L))
    assert(found(Long.MaxValue, 95).map(_.wider) == Seq(4))
  }

  test("the number of hot keys is limited to MaxKeys") {
    val loads = (0 until 200).map { p =>
      TaskLoad(p, 100, (0 until 16).map(i => p * 16L + i -> (100L - i)).toMap, 0, BySide(0L, 0L))
    }
    val found = HotKeyRule(1, 0).found(loads, none, 200)
    assert(found.length == HotKeyRule.MaxKeys && found.map(_.hash).distinct == found.map(_.hash))
    assert(HotKeyRule(1, 0).found(loads, none ++ found, 200).isEmpty)
  }
}
