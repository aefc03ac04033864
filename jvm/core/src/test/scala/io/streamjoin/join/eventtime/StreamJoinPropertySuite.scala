package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType
import io.streamjoin.testing.Checked.{assertSame, rows, watermarks}
import io.streamjoin.testing.RandomCases.onFailure
import io.streamjoin.testing.{Checked, Driver, RandomCases, RandomJoin, TestRow, Wm}

/**
 * Compares the join with brute force on random traces. Conditions have two to four bounds over one
 * to three time columns a side, some without a watermark, some nullable, with facts.
 */
class StreamJoinPropertySuite extends AnyFunSuite {

  for (joinType <- JoinType.all) {
    test(s"${joinType.name}: emitted, buffered and late rows equal those of brute force") {
      var (outputRows, lateRows) = (0, 0)
      RandomCases.forAll(300) { random =>
        val join = RandomJoin.admissible(random, maxColumns = 1 + random.nextInt(3))
        val checked = new Checked(join, joinType)
        (join.events(20) ++ join.end).foreach(checked.send)
        checked.assertComplete()
        outputRows += checked.outputRows
        lateRows += checked.reference.lateRows
      }
      // the traces emit enough rows, and enough late rows
      if (RandomCases.all) {
        assert(outputRows > 300)
        assert(lateRows > 100)
      }
    }
  }

  test("restarts do not change the emitted rows and watermarks") {
    RandomCases.forAll(500) { random =>
      val joinType = JoinType.all(random.nextInt(JoinType.all.length))
      val join = RandomJoin.admissible(random, maxColumns = 2)
      val (steady, restarted) = (new Driver(join, joinType), new Driver(join, joinType))
      withClue(onFailure(s"${joinType.name}, $join\n")) {
        for (event <- join.events(30) ++ join.end) {
          if (random.nextInt(4) == 0) restarted.restart()
          val (expected, actual) = (steady.send(event), restarted.send(event))
          assertSame(s"$event", rows(actual), rows(expected))
          // each watermark is emitted once, at the same event
          assert(watermarks(actual) == watermarks(expected))
        }
      }
    }
  }

  test("output watermarks do not depend on the rows") {
    RandomCases.forAll(500) { random =>
      val joinType = JoinType.all(random.nextInt(JoinType.all.length))
      val join = RandomJoin.admissible(random, maxColumns = 2)
      val (full, empty) = (new Driver(join, joinType), new Driver(join, joinType))
      for (event <- join.events(30) ++ join.end) event match {
        case row: TestRow => full.send(row)
        case wm: Wm       => assert(watermarks(full.send(wm)) == watermarks(empty.send(wm)))
      }
    }
  }
}
