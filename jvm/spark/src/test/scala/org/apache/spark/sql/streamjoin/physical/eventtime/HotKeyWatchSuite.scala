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

/** From which batch on keys are spread, over restarts too. */
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

  private def told(loads: TaskLoad*): CollectionAccumulator[TaskLoad] = {
    val accumulator = new CollectionAccumulator[TaskLoad]
    loads.foreach(accumulator.add)
    accumulator
  }

  private def load(partition: Int, key: Long, rows: Long, latest: Long) =
    TaskLoad(partition, rows, Map(key -> rows), 40, BySide(latest, latest))

  test("keys are spread from the batch after the one in which they were found") {
    withRuns { run =>
      val watch = run()
      assert(watch.keysOf(7, rule).size == 0)
      watch.listen(told(load(1, 5L, 200, 70), load(2, 6L, 10, 0)))
      // the plan of one batch may be made more than once
      assert(watch.keysOf(7, rule).size == 0)
      val found = HotKeys(buckets, Seq(HotKey(5L, 1, 4)))
      assert(watch.keysOf(8, rule) == found && watch.keysOf(8, rule) == found)
      watch.listen(told(load(3, 9L, 300, 90), load(3, 9L, 300, 90), load(0, 5L, 100, 95)))
      val more = found ++ Seq(HotKey(9L, 3, 5))
      assert(watch.keysOf(9, rule) == more)
      // told once, it counts for one batch
      assert(watch.keysOf(10, rule) == more)
    }
  }

  test("a batch that runs again in another run has the keys that it had, and finds none") {
    withRuns { run =>
      val first = run()
      first.keysOf(7, rule)
      first.listen(told(load(1, 5L, 200, 70)))
      val found = first.keysOf(8, rule)
      assert(found.size == 1)
      assert(run().keysOf(8, rule) == found)
      assert(run().keysOf(12, rule) == found)
      assert(run().keysOf(7, rule).size == 0)
      // the checkpoint was set back to batch 7: what was found after it never was
      assert(run().keysOf(8, rule).size == 0)
    }
  }

  test("without a rule no more keys are found, and those that are there stay") {
    withRuns { run =>
      val watch = run()
      watch.keysOf(0, rule)
      watch.listen(told(load(1, 5L, 200, 70)))
      assert(watch.keysOf(1, None).size == 0)
      watch.listen(told(load(1, 5L, 200, 70)))
      assert(watch.keysOf(2, rule).size == 1)
      watch.listen(told(load(2, 6L, 200, 70)))
      assert(watch.keysOf(3, None).size == 1)
      assert(run().keysOf(4, None).size == 1)
    }
  }
}
