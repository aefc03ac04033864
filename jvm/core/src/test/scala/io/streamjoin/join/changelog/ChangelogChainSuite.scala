package io.streamjoin.join.changelog

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/** Chains of two to four joins, each of which reads the output changes of the previous one. */
class ChangelogChainSuite extends AnyFunSuite {
  import ChangelogCases._

  /**
   * Converts output rows of a join to input rows of the next one. Different rows stay different.
   */
  private final class AsInput {
    private val numbers = mutable.HashMap.empty[Out, Int]

    def apply(o: Out): Row = {
      val row = o.left.orElse(o.right).get
      Row(row.join, row.unique, numbers.getOrElseUpdate(o, numbers.size))
    }
  }

  test(
    "each batch gives the join of the tables, and no join deletes a row that is not stored"
  ) {
    var changesOut = 0L
    RandomCases.forAll(1200) { random =>
      val joins = (0 to random.nextInt(3)).map { n =>
        val joinType = JoinType.all(random.nextInt(JoinType.all.length))
        randomJoin(random, joinType, Option.when(n > 0)(Layout.NoKey))
      }
      val drivers = joins.map(new ChangelogDriver(_))
      val between = joins.map(_ => new AsInput)
      val first = new ChangelogTable(joins.head, Side.Left, random)
      val others = joins.map(new ChangelogTable(_, Side.Right, random))
      val table = mutable.HashMap.empty[Out, Int]
      val history = mutable.ArrayBuffer.empty[Any]
      withClue(onFailure(s"${joins.mkString("\n")}\n${history.mkString("\n")}\n")) {
        for (_ <- 0 until 1 + random.nextInt(5)) {
          var changes = random.shuffle(Seq.fill(random.nextInt(6))(first.change()).flatten)
          var rows = first.rows.toSeq
          var out = Seq.empty[Changed[Out]]
          var expected = Seq.empty[Out]
          for (n <- joins.indices) {
            val right = random.shuffle(Seq.fill(random.nextInt(4))(others(n).change()).flatten)
            history += changes -> right
            out = drivers(n).batch(changes, right)
            expected = shown(joins(n).result(rows, others(n).rows.toSeq))
            changes = out.map(c => Change(between(n)(c.row), c.kind.added))
            rows = expected.map(between(n)(_))
            assert(drivers(n).counters.rows(Side.Left, Count.Unknown) == 0)
          }
          fold(table, out)
          assertSame("table", listed(table), expected)
          changesOut += out.length
        }
      }
    }
    if (RandomCases.all) assert(changesOut > 2000)
  }
}
