package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.JoinType._
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.{Placement, Routing}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases.onFailure
import io.streamjoin.testing.Timeline._
import io.streamjoin.testing.{
  Driver,
  Emitted,
  FoundLate,
  Given,
  HeapJoinState,
  Late,
  RandomCases,
  RandomJoin,
  TestJoin,
  TestRow,
  Wm
}

/** Joins that emit late rows. */
class LateRowsSuite extends AnyFunSuite {

  private object twoTimes extends TestJoin {
    val lTime = left("l.time")
    val seen = left("l.seen", nullable = true)
    val rTime = right("r.time")
    on(rTime.between(lTime - 5, lTime + 5))
  }

  import twoTimes._

  test("a late row is emitted with its first late column and the watermark of that column") {
    trace(new Driver(twoTimes, Inner, emitsLate = true)) { t =>
      import t._
      in(r(30))
      in(wm(lTime, 30))
      in(wm(seen, 100))
      in(l(29, 99))
      out(Late(l(29, 99), wm(lTime, 30)))
      in(l(30, 99))
      out(Late(l(30, 99), wm(seen, 100)))
      in(l(30, 100))
      out(joined(l(30, 100), r(30)))
      // NULL is not late
      in(l(29, 0).without(seen))
      out(Late(l(29, 0).without(seen), wm(lTime, 30)))
      lateRows(left = 3, right = 0)
      leftBuffer(l(30, 100))
    }
  }

  test("a late row is not padded, and a padded row is not late") {
    trace(new Driver(twoTimes, FullOuter, emitsLate = true)) { t =>
      import t._
      in(l(10, 10))
      in(wm(rTime, 16))
      out(unmatched(l(10, 10)))
      in(r(15))
      out(Late(r(15), wm(rTime, 16)))
      // not late, but too old to match a future row
      in(l(10, 10))
      out(unmatched(l(10, 10)))
    }
  }

  test("a row that a lower join found late is emitted unchanged and not counted as late again") {
    trace(new Driver(twoTimes, FullOuter, emitsLate = true)) { t =>
      import t._
      in(wm(lTime, 30))
      in(r(30))
      for (old <- Seq(l(30, 30), l(2, 2), l(0, 0).without(lTime)).map(_.copy(foundLate = true))) {
        in(old)
        out(FoundLate(old))
      }
      leftBuffer()
      rightUsed()
      lateRows(left = 0, right = 0)
    }
  }

  test("only the owner partition emits and counts a late row") {
    val counters = new Counters
    val operators = Seq.tabulate(3) { partition =>
      new EventTimeJoin[TestRow, Emitted](
        FullOuter,
        bounds,
        rows,
        outputWithLate,
        new HeapJoinState[TestRow](identity),
        JoinStats(counters),
        Placement(Routing.Shared, partition, partitions = 3)
      )
    }
    operators.foreach(_.restore(Array(30L, 30L, 30L)))
    for (row <- Seq(l(29, 30), r(29), l(31, 31).copy(foundLate = true)))
      assert(operators.map(_.process(row.side, row).length).sorted == Seq(0, 0, 1))
    assert(Side.both.map(counters.rows(_, Count.Late)) == Seq(1, 1))
  }

  for (joinType <- JoinType.all) {
    test(s"${joinType.name}: late rows are emitted at once, with no other change in the output") {
      var lateRows = 0
      RandomCases.forAll(200) { random =>
        val join = RandomJoin.admissible(random, maxColumns = 2)
        val dropping = new Driver(join, joinType)
        val emitting = new Driver(join, joinType, emitsLate = true)
        withClue(onFailure(s"$join\n")) {
          for (event <- join.events(30) ++ join.end) {
            if (random.nextInt(8) == 0) Seq(dropping, emitting).foreach(_.restart())
            val watermarks = emitting.received
            val (late, others) = emitting.send(event).partition(_.isInstanceOf[Late])
            assert(others == dropping.send(event), s"$event")
            assertSame(s"late of $event", late, reason(join, watermarks, event).toSeq)
            lateRows += late.length
          }
        }
      }
      if (RandomCases.all) assert(lateRows > 100)
    }
  }

  /** The first late column of a row in column order, if any. */
  private def reason(join: TestJoin, watermarks: Array[Long], event: Given): Option[Late] =
    event match {
      case row: TestRow =>
        row.times.toSeq.sorted.collectFirst {
          case (c, time) if join.columns(c).watermarked && time < watermarks(c) =>
            Late(row, Wm(c, watermarks(c)))
        }
      case _ => None
    }
}
