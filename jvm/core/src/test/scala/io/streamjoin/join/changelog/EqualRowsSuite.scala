package io.streamjoin.join.changelog

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.{HeapJoinState, RandomCases}
import io.streamjoin.testing.RandomCases.onFailure

/** Inputs without a unique key, in which most rows are equal to others. */
class EqualRowsSuite extends AnyFunSuite {
  import ChangelogCases._

  test("as many equal rows are taken from the state as are wanted, and the others stay there") {
    val join = TestChangelog(JoinType.Inner, Layout.NoKey, Layout.NoKey)
    val row = Row(Some(1), unique = 0, value = 0)
    for (wanted <- 0 to 6) {
      val state = new HeapJoinState[Row](identity)
      val (stored, taken) = (new StoredRows[Row](join, state), new ChangeBuffer[Row])
      for (_ <- 1 to 5) stored.append(Side.Left, 1L, row, matched = false)
      taken.add(row, marked = false)
      stored.take(Side.Left, 1L, row, wanted, taken)((_, _) => true)
      assert(taken.length == 1 + math.min(wanted, 5))
      assert(state.size(Side.Left) == 5 - math.min(wanted, 5))
    }
  }

  for (joinType <- JoinType.all; expiry <- Seq(Expiry.Keep, Expiry.Forget, Expiry.Retract))
    test(s"${joinType.name}, $expiry: a delete removes one of several equal rows") {
      RandomCases.forAll(40) { random =>
        val join = TestChangelog(joinType, Layout.NoKey, Layout.NoKey, expiry = expiry)
        val driver = new ChangelogDriver(join, segments = random.nextBoolean())
        val rows = Side.both.map(_ -> mutable.ArrayBuffer.empty[Row]).toMap
        val table = mutable.HashMap.empty[Out, Int]
        val history = mutable.ArrayBuffer.empty[Any]
        def changes(side: Side) = Seq.fill(random.nextInt(4)) {
          val own = rows(side)
          if (own.nonEmpty && random.nextBoolean())
            Change(own.remove(random.nextInt(own.length)), added = false)
          else {
            own += Row(Some(random.nextInt(2)), unique = 0, value = 0)
            Change(own.last, added = true)
          }
        }
        withClue(onFailure(s"${history.mkString("\n")}\n")) {
          for (_ <- 0 until 12) {
            val (left, right) = (changes(Side.Left), changes(Side.Right))
            history += left -> right
            fold(table, driver.batch(left, right))
            assertSame(
              "table",
              listed(table),
              join.result(rows(Side.Left).toSeq, rows(Side.Right).toSeq)
            )
            for (side <- Side.both) assert(driver.stored(side) == rows(side).length, side.name)
          }
        }
        driver.close()
      }
    }
}
