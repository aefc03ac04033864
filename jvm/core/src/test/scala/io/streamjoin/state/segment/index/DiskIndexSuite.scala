package io.streamjoin.state.segment.index

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.state.segment.pages.{SlotPages, SpillFile, SpilledBytes, Spilling}
import io.streamjoin.testing.{LocalFiles, RandomCases}

class DiskIndexSuite extends AnyFunSuite {

  private def key(n: Int): Long = n * 0x9e3779b97f4a7c15L

  private def inFile[T](test: SpilledBytes => T): T = {
    val file = new SpillFile(LocalFiles.create)
    try test(new SpilledBytes(file))
    finally file.close()
  }

  private def found(index: DiskIndex, n: Int, from: Long, to: Long): (Seq[Int], Int) = {
    val rows = mutable.ListBuffer.empty[Int]
    val pieces = index.find(SlotPages.hash(key(n)), from, to)(rows += _)
    (rows.toList, pieces)
  }

  test("a search returns the rows of a key and a time range in time order") {
    RandomCases.forAll(30) { random =>
      inFile { disk =>
        val count = random.nextInt(3000)
        val keys = 1 + random.nextInt(Seq(1, 5, 300, 5000)(random.nextInt(4)))
        val keyOf = Array.fill(count)(random.nextInt(keys))
        val timeOf = Array.fill(count)(random.nextInt(200).toLong)
        val isIn = Array.fill(count)(random.nextInt(5) > 0)
        val index = DiskIndex.of(count, isIn, i => key(keyOf(i)), timeOf, disk)
        for (_ <- 0 until 200) {
          val (n, from) = (random.nextInt(keys), random.nextInt(220) - 10L)
          val to = from + Seq(0L, 1L, 20L, 500L)(random.nextInt(4))
          val expected = (0 until count).filter(i =>
            isIn(i) && keyOf(i) == n && timeOf(i) >= from && timeOf(i) <= to
          )
          val (rows, _) = found(index, n, from, to)
          assert(rows.toSet == expected.toSet && rows.length == expected.length)
          assert(rows.map(timeOf(_)) == rows.map(timeOf(_)).sorted)
          assert(expected.isEmpty || index.mayContain(SlotPages.hash(key(n))))
        }
        index.release()
      }
    }
  }

  test("a search reads at most two blocks, or for a large key the blocks of the time range") {
    inFile { disk =>
      val count = 100000
      // every second row has the same key
      val index = DiskIndex.of(count, _ => true, i => key(if (i % 2 == 0) 0 else i), _.toLong, disk)
      for (n <- 1 until count by 1000) {
        val (rows, pieces) = found(index, n, Long.MinValue, Long.MaxValue)
        assert(rows == List(n) && pieces <= 2)
      }
      val (rows, pieces) = found(index, 0, 50000, 50999)
      assert(rows.length == 500 && pieces <= 4)
      assert(found(index, 0, 200000, 300000)._1.isEmpty)
      assert(index.allocated < count * 2)
      index.release()
      assert(disk.searchedFrom == Spilling.SearchedFrom)
    }
  }
}
