package io.streamjoin.join.changelog

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/** Compares joins of random changelogs, of all layouts and types, with the join of their tables. */
class ChangelogPropertySuite extends AnyFunSuite {
  import ChangelogCases._

  for (joinType <- JoinType.all; segments <- Seq(false, true)) {
    val where = if (segments) "in segments" else "on the heap"
    test(
      s"${joinType.name}, $where: a batch emits the result after it minus the result before it"
    ) {
      var (changesOut, updates) = (0L, 0)
      RandomCases.forAll(300) { random =>
        val join = randomJoin(random, joinType)
        val memory = if (random.nextBoolean()) Long.MaxValue else 1L
        val driver = new ChangelogDriver(join, segments, memory = memory)
        val (l, r) = (
          new ChangelogTable(join, Side.Left, random),
          new ChangelogTable(join, Side.Right, random)
        )
        val table = mutable.HashMap.empty[Out, Int]
        val history = mutable.ArrayBuffer.empty[Any]
        withClue(onFailure(s"$join\n${history.mkString("\n")}\n")) {
          for (_ <- 0 until 1 + random.nextInt(8)) {
            val left = random.shuffle(Seq.fill(random.nextInt(7))(l.change()).flatten)
            val right = random.shuffle(Seq.fill(random.nextInt(7))(r.change()).flatten)
            history += left -> right
            ChangelogCases.failOrRestart(driver, left, right, random)
            val out = driver.batch(left, right)
            history += out
            val before = listed(table)
            fold(table, out)
            assertSame("table", listed(table), shown(join.result(l.rows.toSeq, r.rows.toSeq)))
            // exactly the difference, and no row both inserted and deleted
            val (inserts, deletes) = out.partition(_.kind.added)
            assertSame("inserts", inserts.map(_.row), listed(table).diff(before))
            assertSame("deletes", deletes.map(_.row), before.diff(listed(table)))
            checkUpdates(out)
            updates += out.count(_.kind == ChangeKind.Preimage)
          }
          changesOut += driver.counters.rows(Count.Emitted)
          driver.close()
        }
      }
      if (RandomCases.all) {
        assert(changesOut > 500)
        assert(updates > 5)
      }
    }
  }

  /** The two images of an update are consecutive, have one key, and differ. */
  private def checkUpdates(out: Seq[Changed[Out]]): Unit =
    out.zipAll(out.drop(1), null, null).foreach {
      case (Changed(ChangeKind.Preimage, before), Changed(ChangeKind.Postimage, after)) =>
        assert(before != after)
        assert(before.left.map(_.unique) == after.left.map(_.unique))
      case (a, b) =>
        assert(a == null || a.kind != ChangeKind.Preimage, s"$a without its postimage")
        assert(b == null || b.kind != ChangeKind.Postimage || a.kind == ChangeKind.Preimage)
    }

  test("any batches give the same table, even if they split the images of an update") {
    RandomCases.forAll(400) { random =>
      val join = randomJoin(random, JoinType.all(random.nextInt(JoinType.all.length)))
      val (l, r) =
        (new ChangelogTable(join, Side.Left, random), new ChangelogTable(join, Side.Right, random))
      val steps = Seq.fill(12)(
        if (random.nextBoolean()) l.change().map(Side.Left -> _)
        else r.change().map(Side.Right -> _)
      )
      withClue(onFailure(s"$join\n${steps.mkString("\n")}\n")) {
        for (_ <- 0 until 3) {
          val driver = new ChangelogDriver(join)
          val table = mutable.HashMap.empty[Out, Int]
          var rest = steps.flatten
          while (rest.nonEmpty) {
            // also between the two images of an update
            val (now, later) = rest.splitAt(1 + random.nextInt(rest.length))
            rest = later
            def of(side: Side) = random.shuffle(now.collect { case (`side`, c) => c })
            fold(table, driver.batch(of(Side.Left), of(Side.Right)))
          }
          assertSame("table", listed(table), shown(join.result(l.rows.toSeq, r.rows.toSeq)))
        }
      }
    }
  }
}
