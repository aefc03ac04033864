package io.streamjoin.join.eventtime

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.{HotKeys, Routing}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases.onFailure
import io.streamjoin.testing.{
  BatchDriver,
  Driver,
  RandomCases,
  RandomJoin,
  RoutedDriver,
  TestRow,
  Wm
}

/** The output of a join does not depend on its number of partitions or its routing. */
class RoutingPropertySuite extends AnyFunSuite {

  for (joinType <- JoinType.all) {
    test(s"${joinType.name}: without an equality, several partitions emit what one emits") {
      var outputRows = 0
      RandomCases.forAll(300) { random =>
        val join = RandomJoin.admissible(random, maxColumns = 2)
        val partitions = 2 + random.nextInt(3)
        val one = new BatchDriver(join, joinType)
        val many = new RoutedDriver(
          join,
          joinType,
          partitions,
          Routing.of(joinType, hasEquality = false)
        )
        outputRows += inStep(random, join, joinType, _ => random.nextInt(partitions), one, many) {
          for (side <- Side.both) {
            val copies = Routing.of(joinType, hasEquality = false) match {
              case Routing.Broadcast(`side`) => 1
              case _                         => partitions
            }
            val expected = one.buffer(side).length.toLong
            if (joinType.leftOnly) assert(many.buffered(side) <= expected * copies)
            else assert(many.buffered(side) == expected * copies, side.name)
          }
        }
      }
      if (RandomCases.all) assert(outputRows > 300)
    }
  }

  for (joinType <- JoinType.all) {
    test(s"${joinType.name}: partitions by time bucket emit what one partition emits") {
      var (outputRows, replicas) = (0, 0L)
      RandomCases.forAll(600) { random =>
        val join = RandomJoin.admissible(random, maxColumns = 2)
        val single = Routing.single(joinType)
        join.bounds.buckets(bothCopied = single.isEmpty).foreach { buckets =>
          val partitions = 1 + random.nextInt(6)
          val one = new BatchDriver(join, joinType)
          val many =
            new RoutedDriver(join, joinType, partitions, Routing.ByTime(single, buckets))
          outputRows += inStep(random, join, joinType, _ => random.nextInt(partitions), one, many) {
            for (side <- Side.both) {
              val buffered = one.buffer(side).length.toLong
              val found = many.buffered(side)
              replicas += math.max(found - buffered, 0)
              if (!joinType.leftOnly) assert(found >= buffered, side.name)
              assert(found <= buffered * (if (single.contains(side) || partitions == 1) 1 else 2))
            }
            sameCounts(one, many)
          }
        }
      }
      if (RandomCases.all) assert(outputRows > 300 && replicas > 30, s"$outputRows, $replicas")
    }
  }

  for (joinType <- JoinType.all; hashes <- Seq(2, 1)) {
    val hashNote = if (hashes == 1) ", two keys of one hash" else ""
    test(s"${joinType.name}: with keys that become hot, partitions emit what one emits$hashNote") {
      var (outputRows, replicas, spread, wider) = (0, 0L, 0, 0)
      RandomCases.forAll(600) { random =>
        val join = RandomJoin.admissible(random, maxColumns = 2)
        val single = Routing.single(joinType)
        join.bounds.buckets(bothCopied = single.isEmpty).foreach { usual =>
          val narrow = usual.copy(width = math.max(2L, 2 * usual.reach))
          val buckets = if (random.nextBoolean()) usual else narrow
          val partitions = 1 + random.nextInt(6)
          val one = new BatchDriver(join, joinType)
          // keys of one hash can be in one partition or in two
          val places = Seq.fill(2)(random.nextInt(partitions))
          def place(key: Long) = places(key.toInt)
          val many =
            new RoutedDriver(join, joinType, partitions, Routing.ByKey, place, _ % hashes)
          def home(row: TestRow) = row.key.fold(random.nextInt(partitions))(place)
          var hot = HotKeys(buckets, Nil)
          outputRows += inStep(random, join, joinType, home, one, many, events = 80) {
            sameCounts(one, many)
            for (side <- Side.both) {
              val buffered = one.buffer(side).length.toLong
              replicas += math.max(many.buffered(side) - buffered, 0)
              if (!joinType.leftOnly) assert(many.buffered(side) >= buffered, side.name)
              assert(many.buffered(side) <= buffered * (if (single.contains(side)) 1 else 2))
            }
            if (many.filled > places.distinct.length) spread += 1
            val rule = HotKeyRule(minRows = 1, minBuckets = 0, taskBuckets = random.nextInt(2))
            hot = hot ++ rule.found(many.reported, hot, partitions)
            wider += hot.keys.count(_.wider > 1)
            if (hot.size > 0) many.routing = Routing.ByKeyAndTime(single, hot)
          }
        }
      }
      if (RandomCases.all)
        assert(
          outputRows > 300 && replicas > 30 && spread > 30 && wider > 30,
          s"$outputRows, $replicas, $spread, $wider"
        )
    }
  }

  test("routing broadcasts a side only if it is not preserved, and shares rows of full joins") {
    for (joinType <- JoinType.all)
      Routing.of(joinType, hasEquality = false) match {
        case Routing.Broadcast(unicast) => assert(!joinType.preserves(unicast.other))
        case Routing.Shared             => assert(joinType == JoinType.FullOuter)
        case other                      => fail(s"$other without an equality")
      }
    assert(JoinType.all.forall(Routing.of(_, hasEquality = true) == Routing.ByKey))
  }

  /** Compares the counters that count a row or pair once, despite replicas. */
  private def sameCounts(one: BatchDriver, many: RoutedDriver): Unit =
    for (
      side <- Side.both;
      count <- Seq[Counters => Long](
        _.rows(side, Count.Input),
        _.rows(side, Count.Late),
        _.rows(side, Count.NullTime),
        _.rows(Count.Joined),
        _.rows(Count.NullPadded)
      )
    ) assert(many.counted(count) == count(one.counters))

  /**
   * Sends the same random events to one partition and to several, and compares the output of each
   * batch.
   *
   * @param home the partition of a row that is sent to one partition only
   * @param afterBatch further checks
   * @return the number of emitted rows
   */
  private def inStep(
      random: Random,
      join: RandomJoin,
      joinType: JoinType,
      home: TestRow => Int,
      one: BatchDriver,
      many: RoutedDriver,
      events: Int = 40
  )(afterBatch: => Unit): Int = {
    val watermarks = new Driver(join, joinType)
    val batches = join.events(events).grouped(1 + random.nextInt(12)).toSeq :+ join.end
    var outputRows = 0
    withClue(onFailure(s"$join\n${many.routing}\n${batches.mkString("\n")}\n")) {
      for (batch <- batches) {
        val rows = batch.collect { case r: TestRow => r }
        batch.foreach { case w: Wm => watermarks.send(w); case _ => () }
        val homes = rows.map(row => row -> home(row)).toMap
        val expected = one.batch(Side.Left, rows, watermarks.received)
        assertSame(s"$batch", many.batch(rows, homes, watermarks.received), expected)
        outputRows += expected.length
        afterBatch
      }
    }
    outputRows
  }
}
