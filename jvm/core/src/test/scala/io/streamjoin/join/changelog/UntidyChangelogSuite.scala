package io.streamjoin.join.changelog

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/**
 * Changelogs that are not well formed: deletes of missing rows, inserts of existing rows, repeated
 * changes and updates without one image. The rules for the table after a batch:
 *
 * {{{
 *   without a key   the count of a row rises with inserts and falls with deletes, not below zero
 *   with a key      the last change counts
 * }}}
 */
class UntidyChangelogSuite extends AnyFunSuite {
  import ChangelogCases._

  private final class Untidy(join: TestChangelog, side: Side, random: Random) {
    private val keyed = join(side).keyed
    private var sequence = 0
    private val counts = mutable.HashMap.empty[Row, Int]
    private val byKey = mutable.HashMap.empty[(Option[Int], Int), Row]

    def rows: Seq[Row] =
      if (keyed) byKey.values.toSeq else counts.toSeq.flatMap { case (row, n) => Seq.fill(n)(row) }

    private def key(row: Row) =
      (row.join, if (join.layout(side) == Layout.OneAKey) 0 else row.unique)

    def batch(): Seq[Change[Row]] = {
      val changes = Seq.fill(random.nextInt(8)) {
        sequence += 1
        val join = if (random.nextInt(8) == 0) None else Some(random.nextInt(2))
        val row =
          Row(join, random.nextInt(3), random.nextInt(5), if (keyed) sequence else 0)
        Change(row, random.nextInt(5) < 3)
      }
      if (keyed) changes.foreach { c =>
        if (c.added) byKey(key(c.row)) = c.row else byKey.remove(key(c.row))
      }
      else
        changes.groupMapReduce(_.row)(c => if (c.added) 1 else -1)(_ + _).foreach { case (row, n) =>
          counts(row) = math.max(0, counts.getOrElse(row, 0) + n)
        }
      val twice = if (keyed) changes.filter(_ => random.nextInt(4) == 0) else Nil
      random.shuffle(changes ++ twice)
    }
  }

  test("each batch gives the join of the tables, also after malformed changes") {
    var unknown = 0L
    RandomCases.forAll(1500) { random =>
      val join = randomJoin(random, JoinType.all(random.nextInt(JoinType.all.length)))
      val driver = new ChangelogDriver(join, segments = random.nextInt(4) == 0)
      val (l, r) = (new Untidy(join, Side.Left, random), new Untidy(join, Side.Right, random))
      val table = mutable.HashMap.empty[Out, Int]
      val history = mutable.ArrayBuffer.empty[Any]
      withClue(onFailure(s"$join\n${history.mkString("\n")}\n")) {
        for (_ <- 0 until 1 + random.nextInt(6)) {
          val (left, right) = (l.batch(), r.batch())
          history += left -> right
          fold(table, driver.batch(left, right))
          assertSame("table", listed(table), shown(join.result(l.rows, r.rows)))
        }
        unknown += driver.counters.rows(Side.Left, Count.Unknown)
      }
    }
    if (RandomCases.all) assert(unknown > 500)
  }
}
