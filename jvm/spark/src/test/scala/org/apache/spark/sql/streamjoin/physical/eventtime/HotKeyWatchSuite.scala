package org.apache.spark.sql.streamjoin.physical.eventtime

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.checkpoint.HotKeyFiles
import org.apache.spark.util.{CollectionAccumulator, Utils}

import io.streamjoin.join.eventtime.{HotKeyRule, TaskLoad}
import io.streamjoin.model.BySide
import io.streamjoin.placement.{HotKey, HotKeys, ReachBuckets}

/** The batch from which hot keys are spread, also across restarts. */
class HotKeyWatchSuite extends AnyFunSuite {

  private val buckets = ReachBuckets(0, 5, 20)
  private val rule = Some(HotKeyRule(100, minBuckets = 2))

  private def withRuns(check: (() => HotKeyWatch) => Unit): Unit = {
    val folder = Files.createTempDirectory("hot-keys")
    def run() =
      new HotKeyWatch(
        new HotKeyFiles(new Path(folder.toUri), new Configuration),
        buckets,
        partitions = 4
      )
    try check(() => run())
    finally Utils.deleteRecursively(folder.toFile)
  }

  private def accumulated(loads: TaskLoad*): CollectionAccumulator[TaskLoad] = {
    val accumulator = new CollectionAccumulator[TaskLoad]
    loads.foreach(accumulator.add)
    accumulator
  }

  private def load(partition: Int, key: Long, rows: Long, latest: Long) =
    TaskLoad(partition, rows, Map(key -> rows), 40, BySide(latest, latest))

  test("a hot key is spread from the batch after the one that found it") {
    withRuns { run =>
      val watch = run()
      assert(watch.keysOf(7, rule).keys.size == 0)
      watch.listen(accumulated(load(1, 5L, 200, 70), load(2, 6L, 10, 0)))
      // the plan of a batch can be created more than once
      assert(watch.keysOf(7, rule).keys.size == 0)
      val found = HotKeys(buckets, Seq(HotKey(5L, 1, 4)))
      assert(watch.keysOf(8, rule).keys == found && watch.keysOf(8, rule).keys == found)
      watch.listen(accumulated(load(3, 9L, 300, 90), load(3, 9L, 300, 90), load(0, 5L, 100, 95)))
      val more = found ++ Seq(HotKey(9L, 3, 5))
      assert(watch.keysOf(9, rule).keys == more)
      // a report is used for one batch
      assert(watch.keysOf(10, rule).keys == more)
    }
  }

  test("a batch that is run again after a restart has the same hot keys") {
    withRuns { run =>
      val first = run()
      first.keysOf(7, rule)
      first.listen(accumulated(load(1, 5L, 200, 70)))
      val found = first.keysOf(8, rule).keys
      assert(found.size == 1)
      assert(run().keysOf(8, rule).keys == found)
      assert(run().keysOf(12, rule).keys == found)
      assert(run().keysOf(7, rule).keys.size == 0)
      // the checkpoint was reset to batch 7, so later hot keys are discarded
      assert(run().keysOf(8, rule).keys.size == 0)
    }
  }

  test("each batch knows the checksum of the hot keys that the batch before it stored") {
    withRuns { run =>
      val watch = run()
      var last = watch.keysOf(0, rule)
      for (batch <- 1L to 5L) {
        watch.listen(accumulated(load(1, batch / 2, 200, 70)))
        val next = watch.keysOf(batch, rule)
        for (planned <- Seq(next, run().keysOf(batch, rule)))
          assert(planned.sums.before == last.sums.now && planned.sums.now == next.sums.now)
        assert(next.sums.now != last.sums.now || next.keys == last.keys)
        last = next
      }
      assert(last.keys.size == 3)
    }
  }

  test("without a rule, no new hot keys are found and existing ones stay") {
    withRuns { run =>
      val watch = run()
      watch.keysOf(0, rule)
      watch.listen(accumulated(load(1, 5L, 200, 70)))
      assert(watch.keysOf(1, None).keys.size == 0)
      watch.listen(accumulated(load(1, 5L, 200, 70)))
      assert(watch.keysOf(2, rule).keys.size == 1)
      watch.listen(accumulated(load(2, 6L, 200, 70)))
      assert(watch.keysOf(3, None).keys.size == 1)
      assert(run().keysOf(4, None).keys.size == 1)
    }
  }
}
