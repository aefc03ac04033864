package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.{assertSame, rows}
import io.streamjoin.testing.RandomCases.onFailure
import io.streamjoin.testing.{BatchDriver, Driver, RandomCases, RandomJoin, TestRow, Wm}

/**
 * Compares processing by batch with processing by event. The batch join buffers fewer rows, and its
 * state fails, restarts, merges versions and spills between batches.
 */
class BatchPropertySuite extends AnyFunSuite {

  test("a batch emits what its rows, then its watermarks, emit event by event") {
    var onDisk = 0L
    RandomCases.forAll(800) { random =>
      val joinType = JoinType.all(random.nextInt(JoinType.all.length))
      val join = RandomJoin.admissible(random, maxColumns = 2)
      val memory = if (random.nextInt(3) == 0) Long.MaxValue else 1L + random.nextInt(30000)
      val steady = new Driver(join, joinType)
      val batched =
        new BatchDriver(join, joinType, 1L << random.nextInt(7), memory, 1 + random.nextInt(12))
      val events = join.events(40).grouped(1 + random.nextInt(12)).toSeq :+ join.end
      withClue(onFailure(s"${joinType.name}, $join\n${events.mkString("\n")}\n")) {
        for (batch <- events) {
          val first = Side.both(random.nextInt(2))
          val (one, two) = batch.collect { case r: TestRow => r }.partition(_.side == first)
          val expected = (one ++ two ++ batch.collect { case w: Wm => w }).flatMap(steady.send)
          random.nextInt(4) match {
            case 0 =>
              val some = (one ++ two).take(random.nextInt(one.length + two.length + 1))
              batched.failedBatch(first, some, steady.received)
            case 1 => batched.restart()
            case 2 =>
              val from = if (random.nextBoolean()) 0 else random.nextInt(batched.written + 1)
              batched.merge(from, from + random.nextInt(6))
            case _ =>
          }
          if (random.nextBoolean()) batched.shrink()
          onDisk += batched.spilled
          val actual = batched.batch(first, one ++ two, steady.received)
          assertSame(s"$batch", actual, rows(expected))
          for (side <- Side.both) assertSame(side.name, batched.buffer(side), steady.buffer(side))
        }
        for (side <- Side.both)
          assert(batched.counters.rows(side, Count.Late) == steady.counters.rows(side, Count.Late))
      }
      batched.close()
    }
    if (RandomCases.all) assert(onDisk > 0)
  }
}
