package io.streamjoin.join.eventtime

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{JoinType, Routing, Side, Watermarks}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases.onFailure
import io.streamjoin.testing.{
  BatchDriver,
  Driver,
  Emitted,
  HeapJoinState,
  RandomCases,
  RandomJoin,
  TestRow,
  Wm
}

/**
 * Partitions that know at the end of a batch less than all of them together, and how much is known when the next one
 * begins, give what one partition gives that knows it at once: pairs in the same batch, rows without a match at the
 * latest when the next one begins.
 */
class InPlacePropertySuite extends AnyFunSuite {

  for (joinType <- JoinType.all)
    test(s"${joinType.name}: what a batch owes comes out when the next one begins") {
      var (outputRows, owed) = (0, 0)
      RandomCases.forAll(400) { random =>
        val join = RandomJoin.admissible(random, maxColumns = 2)
        val watermarks = new Driver(join, joinType)
        val one = new BatchDriver(join, joinType)
        val places = Seq.fill(2)(random.nextInt(3))
        val many = Seq.fill(3)(new Partition(join, joinType, random))
        val batches = join.events(60).grouped(1 + random.nextInt(12)).toSeq :+ join.end
        var (late, before) =
          (Seq.empty[Emitted], Array.fill(join.columns.length)(Watermarks.Unknown))
        withClue(onFailure(s"${joinType.name}, $join\n${batches.mkString("\n")}\n")) {
          for (batch <- batches) {
            val rows = batch.collect { case r: TestRow => r }
            batch.foreach { case w: Wm => watermarks.send(w); case _ => () }
            val now = watermarks.received
            val expected = one.batch(Side.Left, rows, now)
            val homes = rows.groupBy(_.key.fold(random.nextInt(3))(k => places(k.toInt)))
            // what was owed is known to come with the next batch, of rows or of none
            assertSame("owed", many.flatMap(_.begin(before)), late)
            val found = many.zipWithIndex.flatMap { case (p, i) =>
              p.batch(homes.getOrElse(i, Nil), before, now)
            }
            late = expected.diff(found)
            assertSame(s"$batch", found ++ late, expected)
            outputRows += expected.length
            owed += late.length
            before = now
          }
          assertSame("owed at last", many.flatMap(_.begin(before)), late)
          for (side <- Side.both) {
            assert(many.map(_.counters.lateRows(side)).sum == one.counters.lateRows(side))
            assert(many.map(_.held(side)).sum == one.buffer(side).length)
          }
        }
        one.close()
      }
      if (RandomCases.all) {
        assert(outputRows > 300)
        assert((owed > 10) == joinType.preserved.nonEmpty, s"$owed of $outputRows")
      }
    }

  private final class Partition(join: RandomJoin, joinType: JoinType, random: Random) {
    val counters = new JoinCounters
    private val state = new HeapJoinState[TestRow](identity)
    private var evicted = Array.fill(join.columns.length)(Watermarks.Unknown)
    private var task: EventTimeJoin[TestRow, Emitted] = _

    def held(side: Side): Long = state.size(side)

    /** A batch begins, with what all had seen when the one before had ended. */
    def begin(known: Array[Long]): Seq[Emitted] = {
      task = new EventTimeJoin[TestRow, Emitted](
        joinType,
        join.bounds,
        join.rows,
        join.output,
        state,
        counters,
        Routing.ByTopicPartition
      )
      task.restore(evicted)
      val freed = task.advance(known).toList
      evicted = task.received
      freed
    }

    /** Its rows come, of which it alone has seen something between what was known and what will be. */
    def batch(rows: Seq[TestRow], known: Array[Long], all: Array[Long]): Seq[Emitted] = {
      val own = known.zip(all).map { case (a, b) =>
        random.nextInt(3) match {
          case 0 => a
          case 1 => math.max(a, b)
          case _ => if (a == Watermarks.Unknown || b <= a) a else a + random.nextLong(b - a)
        }
      }
      val (left, right) = rows.partition(_.side == Side.Left)
      val came = (left ++ right).flatMap(row => task.process(row.side, row, known).toList) ++
        task.advance(own).toList
      evicted = task.received
      came
    }
  }
}
