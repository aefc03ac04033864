package io.streamjoin.join.eventtime

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, HotKey, HotKeys, ReachBuckets, Side}

/** Which keys a task finds to have most rows, and which of them are spread. */
class KeyLoadSuite extends AnyFunSuite {

  private val none = HotKeys(ReachBuckets(0, 5, 20), Nil)

  private def seen(keys: Iterator[Long]): KeyLoad = {
    val load = KeyLoad.empty
    keys.foreach(load.see(Side.Left, _, 0L, guest = false))
    load
  }

  test("a key with many rows is counted about right, whatever else comes and in whatever order") {
    val random = new Random(1)
    val rows = 100000
    for (share <- Seq(0.2, 0.5, 0.9)) {
      val drawn =
        seen(Iterator.fill(rows)(if (random.nextDouble() < share) 7L else random.nextLong()))
      // never above what was drawn, but for the noise of that, and less by what others took away
      assert(drawn.heaviest(7L) < rows * share * 1.05, s"$share")
      assert(drawn.heaviest(7L) > rows * (share - 1.0 / KeyLoad.Counters) * 0.95, s"$share")
    }
    for (turns <- Seq(2, 4, 8)) {
      val regular = seen(Iterator.range(0, rows).map(i => (i % turns).toLong))
      assert(regular.heaviest.keySet == (0L until turns.toLong).toSet)
      assert(regular.heaviest.values.forall(n => math.abs(n * turns - rows) < rows / 10))
    }
  }

  test("many keys with few rows each leave no trace") {
    val all = seen(Iterator.tabulate(1000000)(i => i.toLong * 31))
    assert(all.seen == 1000000 && all.heaviest.values.forall(_ < 200))
  }

  test("guests count for nothing but the latest time") {
    val load = new KeyLoad(BySide(10L, 20L))
    for (i <- 0 to 100) load.see(Side.Right, 7L, i.toLong, guest = true)
    assert(load.seen == 0 && load.heaviest.isEmpty && load.latest == BySide(10L, 100L))
  }

  test("keys with more than half of a task's share are spread, after all that came") {
    val loads = Seq(
      TaskLoad(0, 10000, Map(1L -> 6000L, 2L -> 900L), BySide(95L, 130L)),
      TaskLoad(1, 2000, Map(3L -> 1900L), BySide(Long.MinValue, 7L)),
      TaskLoad(2, 0, Map.empty, BySide(Long.MinValue, Long.MinValue))
    )
    def found(minRows: Long, known: HotKeys = none) =
      HotKeyRule(minRows).found(loads, known, partitions = 3)
    assert(found(1000) == Seq(HotKey(1L, 0, 7)))
    assert(found(10000).isEmpty)
    assert(found(1000, none ++ Seq(HotKey(1L, 0, 2))).isEmpty)
    assert(HotKeyRule(1000).found(loads, none, partitions = 4).map(_.hash) == Seq(1L, 3L))
    assert(HotKeyRule(1000).found(loads, none, partitions = 1).isEmpty)
  }

  test("there is an end to them") {
    val loads = (0 until 200).map { p =>
      TaskLoad(p, 100, (0 until 16).map(i => p * 16L + i -> (100L - i)).toMap, BySide(0L, 0L))
    }
    val found = HotKeyRule(1).found(loads, none, 200)
    assert(found.length == HotKeyRule.MaxKeys && found.map(_.hash).distinct == found.map(_.hash))
    assert(HotKeyRule(1).found(loads, none ++ found, 200).isEmpty)
  }
}
