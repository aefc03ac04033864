package io.streamjoin.join.changelog

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/** Consolidation of random output rows, of which several may have one key. */
class OutputDeltaSuite extends AnyFunSuite {

  private type Keyed = (Int, Int)

  /** @param unique the keys that have one row of each kind */
  private final class ByKey(unique: Set[Int]) extends RowIdentity[Keyed] {
    override def key(row: Keyed): Option[AnyRef] = Some(Int.box(row._1))
    override def sameKey(a: Keyed, b: Keyed): Boolean = a._1 == b._1 && unique(a._1)
  }

  private def isUnique(rows: Seq[Keyed], key: Int): Boolean = rows.count(_._1 == key) == 1

  test("each row is deleted or inserted as often as it was removed without being added again") {
    RandomCases.forAll(500) { random =>
      val keys = 1 + random.nextInt(12)
      def rows() = Seq.fill(random.nextInt(20))((random.nextInt(keys), random.nextInt(3)))
      val (removed, added) = (rows(), rows())
      val unique = (0 until keys).filter(k => isUnique(removed, k) && isUnique(added, k)).toSet
      val counters = new Counters
      val delta = new OutputDelta[Keyed](new ByKey(unique), counters)
      removed.foreach(row => delta.emit(Some(row), added = false))
      added.foreach(row => delta.emit(Some(row), added = true))
      val out = delta.settle().toVector
      withClue(onFailure(s"$removed\n$added\n$out\n")) {
        val (inserts, deletes) = out.partition(_.kind.added)
        assertSame("deletes", deletes.map(_.row), removed.diff(added))
        assertSame("inserts", inserts.map(_.row), added.diff(removed))
        assert(counters.rows(Count.Emitted) == out.length)
        for ((c, i) <- out.zipWithIndex if c.kind == ChangeKind.Preimage)
          assert(out(i + 1).kind == ChangeKind.Postimage && out(i + 1).row._1 == c.row._1)
        assert(
          out.count(_.kind == ChangeKind.Preimage) == out.count(_.kind == ChangeKind.Postimage)
        )
      }
    }
  }
}
