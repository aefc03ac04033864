package io.streamjoin.state.segment.pages

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.state.segment.SegmentJoinStateSuite
import io.streamjoin.testing.{LocalFiles, RandomCases}

class RowBytesSuite extends AnyFunSuite {
  import SegmentJoinStateSuite.TextCodec

  private def in(test: (RowBytes, SpillFile) => Unit): Unit = {
    val file = new SpillFile(LocalFiles.create)
    try test(new RowBytes(new SpilledBytes(file)), file)
    finally file.close()
  }

  test("a place reads its row from memory or disk, also after rollbacks") {
    var onDisk = 0L
    RandomCases.forAll(200) { random =>
      in { (bytes, file) =>
        val rows = mutable.ArrayBuffer.empty[(Long, String)]
        var committed = 0
        for (step <- 0 until 200) random.nextInt(12) match {
          case 0 =>
            bytes.seal()
            committed = rows.length
            bytes.spill(random.nextInt(4) * 5000L)
            if (random.nextBoolean()) bytes.seal()
          case 1 =>
            bytes.rollback()
            rows.takeInPlace(committed)
          case 2 =>
            bytes.seal()
            committed = rows.length
          case _ =>
            val text = s"$step " + "x" * random.nextInt(if (random.nextInt(9) == 0) 20000 else 900)
            rows += bytes.append(text, TextCodec) -> text
        }
        for ((place, text) <- random.shuffle(rows)) assert(bytes.read(place, TextCodec) == text)
        onDisk += file.size
      }
    }
    if (RandomCases.all) assert(onDisk > 0)
  }

  test("rows that are appended again after a rollback have their places and memory again") {
    RandomCases.forAll(100) { random =>
      in { (bytes, _) =>
        def append(rows: Seq[String]) = rows.map(bytes.append(_, TextCodec)) -> bytes.allocated
        def some() = Seq.fill(random.nextInt(40))("x" * random.nextInt(900))
        for (_ <- 0 until 6) {
          append(some())
          bytes.seal()
          if (random.nextInt(4) == 0) bytes.spill(random.nextInt(4) * 5000L)
          bytes.seal()
          val rows = some()
          val before = append(rows)
          bytes.rollback()
          assert(append(rows) == before)
        }
      }
    }
  }

  test("a spill frees the requested memory in whole chunks") {
    in { (bytes, file) =>
      val places = for (i <- 0 until 1000) yield bytes.append(s"$i" + "y" * 100, TextCodec)
      val before = bytes.allocated
      assert(bytes.spill(0) == 0 && file.size == 0)
      assert(bytes.spill(1) == RowBytes.FirstChunk)
      assert(bytes.allocated == before - RowBytes.FirstChunk)
      assert(bytes.spill(Long.MaxValue) == before - RowBytes.FirstChunk)
      assert(bytes.allocated == 0)
      assert(bytes.spill(Long.MaxValue) == 0)
      bytes.append("one more", TextCodec)
      assert(bytes.allocated == RowBytes.FirstChunk)
      for (i <- places.indices) assert(bytes.read(places(i), TextCodec) == s"$i" + "y" * 100)
    }
  }

  test("rows larger than a chunk are spilled and read") {
    in { (bytes, _) =>
      val rows = Seq("small", "z" * (3 << 20), "small too", "w" * (20 << 20), "the last")
      val places = rows.map(bytes.append(_, TextCodec))
      bytes.spill(Long.MaxValue)
      assert(bytes.allocated == 0)
      assert(places.map(bytes.read(_, TextCodec)) == rows)
    }
  }

  test("released disk space is reused by other rows") {
    in { (first, file) =>
      val disk = new SpilledBytes(file)
      def filled(name: String) = {
        val bytes = new RowBytes(disk)
        val places = for (i <- 0 until 300) yield bytes.append(s"$name $i", TextCodec)
        bytes.spill(Long.MaxValue)
        bytes -> places
      }
      first.append("stays", TextCodec)
      first.spill(Long.MaxValue)
      val (old, oldPlaces) = filled("old")
      val size = file.size
      assert(old.read(oldPlaces(7), TextCodec) == "old 7")
      old.release()
      val (young, places) = filled("new")
      assert(file.size == size)
      for (i <- places.indices) assert(young.read(places(i), TextCodec) == s"new $i")
    }
  }

  test("chunk numbers do not run out after 20,000 spills") {
    in { (bytes, _) =>
      val places = for (i <- 0 until 20000) yield {
        val place = bytes.append(s"$i", TextCodec)
        bytes.spill(Long.MaxValue)
        place
      }
      assert(bytes.allocated < (1 << 20))
      for (i <- places.indices by 7) assert(bytes.read(places(i), TextCodec) == s"$i")
    }
  }
}
