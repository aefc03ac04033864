package io.streamjoin.state.segment

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side
import io.streamjoin.model.Side.Left
import io.streamjoin.state.segment.pages.{MemoryPool, Spilling}
import io.streamjoin.testing.{LocalFiles, RandomCases}

/**
 * Spilled segments that batches still probe: rows are searched on disk, with little of each in
 * memory.
 */
class SearchedSegmentsSuite extends AnyFunSuite {
  import IdleSegmentsSuite.{expire, key, requireAlike}
  import ReclaimSuite.{bytes, readingBack}
  import SearchedSegmentsSuite._
  import SegmentJoinStateSuite._

  test("rows that are probed, marked and removed on disk are those of a plain list") {
    var searched = 0
    RandomCases.forAll(80) { random =>
      // 0: rows are only removed, never evicted
      val limits = random.nextInt(3)
      val span = Seq(20L, 100L, 1000L)(random.nextInt(3))
      val memory = 1 + random.nextInt(if (random.nextBoolean()) 2000 else 40000).toLong
      val from = 1 + random.nextInt(60)
      def empty() = new SegmentJoinState[String](
        _ => limits,
        _ => span,
        _ => TextCodec,
        Spilling(new MemoryPool, memory, LocalFiles.create, searchedFrom = from),
        _ => false,
        _ => Lengths
      )
      var tested = empty()
      val model = new Model
      val written = mutable.ArrayBuffer.empty[Array[Byte]]
      val watermarks = Array.fill(limits)(0L)
      var committed = watermarks.clone()
      for (version <- 0 until 40) {
        if (limits > 0 && random.nextInt(3) == 0) {
          expire(tested, model, watermarks, random)
        }
        val begin = math.max(version * 10L, watermarks.maxOption.getOrElse(0L))
        for (n <- 0 until random.nextInt(80)) {
          val side = Side.both(random.nextInt(2))
          val time = begin + random.nextInt(30)
          val of = Array.fill(limits)(time + random.nextInt(if (limits == 1) 1 else 200))
          val row =
            Row(key(random.nextInt(6)), time, of, s"$version.$n" + "x" * random.nextInt(9))
          tested.append(side, row.key, time, of, row.row, matched = false)
          model.append(side, row)
        }
        for (_ <- 0 until random.nextInt(12)) {
          val side = Side.both(random.nextInt(2))
          val (of, from) = (key(random.nextInt(7)), random.nextInt(version * 10 + 30).toLong)
          val (found, expected) = model.probeBoth(tested, side, of, from)
          assert(found == expected)
        }
        // a join evicts after the probes of the batch
        if (limits > 0 && random.nextInt(3) == 0) {
          expire(tested, model, watermarks, random)
        }
        if (random.nextInt(5) == 0) {
          tested.rollback()
          model.rollback()
          committed.copyToArray(watermarks)
        } else {
          tested.number()
          written += bytes(tested.writeChange)
          tested.seal()
          model.commit()
          committed = watermarks.clone()
        }
        if (random.nextInt(5) > 0) {
          val before = tested.spilled
          tested.shrink()
          if (tested.spilled > before) searched += 1
        }
        if (random.nextInt(12) == 0 && written.nonEmpty) {
          tested.close()
          tested = empty()
          tested.restore(readingBack(written))
        }
        requireAlike(tested, model, limits, s"version $version", random)
      }
      tested.close()
    }
    if (RandomCases.all) assert(searched > 500)
  }

  test(
    "a state that each batch probes at any age stays within its memory, also when restored"
  ) {
    val pool = new MemoryPool
    val tested = state(pool)
    val written = mutable.ArrayBuffer.empty[Array[Byte]]
    for (version <- 0 until Versions) {
      for (n <- version * PerVersion until (version + 1) * PerVersion)
        tested.append(Left, key(n), n.toLong, Array(n.toLong), s"$n", matched = false)
      // rows of any age; every second probe finds none
      for (n <- version until 2 * (version + 1) * PerVersion by 199) {
        val found = tested.probe(Left, key(n), 0L, Long.MaxValue)
        assert(found.map(_.row).toList == Option.when(n < (version + 1) * PerVersion)(s"$n").toList)
      }
      tested.number()
      written += bytes(tested.writeChange)
      tested.seal()
      tested.shrink()
      assert(pool.used <= Memory)
    }
    val restored = state(new MemoryPool)
    restored.restore(readingBack(written))
    assert(restored.size(Left) == Rows)
    assert(restored.allocated <= Memory)
    for (of <- Seq(tested, restored); n <- 0 until Rows by 997)
      assert(of.probe(Left, key(n), n.toLong, n.toLong).map(_.row).toList == List(s"$n"))
    tested.close()
    restored.close()
  }

  test("eviction from disk does not load the rows, and a rollback undoes changes on disk") {
    val pool = new MemoryPool
    val tested = filled(state(pool))
    val allocated = tested.allocated
    def check(): Unit = for (n <- 0 until Rows by 97) {
      val found = tested.probe(Left, key(n), 0L, Long.MaxValue)
      assert(found.map(r => (r.row, r.matched)).toList == List((s"$n", n % 5 == 0)))
    }
    for (n <- 0 until Rows by 5) tested.probe(Left, key(n), n.toLong, n.toLong).foreach(_ => ())
    for (n <- 0 until Rows by 5) {
      val found = tested.probe(Left, key(n), n.toLong, n.toLong)
      found.next()
      found.setMatched()
    }
    tested.number()
    tested.seal()
    check()
    for (n <- 1 until Rows by 3) {
      val found = tested.probe(Left, key(n), n.toLong, n.toLong)
      assert(found.next().row == s"$n")
      if (n % 2 == 0) found.remove() else found.setMatched()
    }
    val before = tested.size(Left)
    val evicted = tested.evict(Left, Array(0L), Array(Rows / 2 + 7L)).map(_.row.toInt).toList
    assert(evicted.sorted == (0 until Rows / 2 + 7).filterNot(n => n % 3 == 1 && n % 2 == 0))
    assert(tested.size(Left) == before - evicted.length)
    assert(tested.least(Left, 0) == Rows / 2 + 7)
    // flags of rows, and the rows that a version may load
    assert(tested.allocated < allocated + Memory / 4 + Rows)
    tested.rollback()
    assert(tested.size(Left) == Rows && tested.least(Left, 0) == 0)
    check()
    tested.close()
  }

  test("removing rows on disk and discarding the rest in one version frees the disk") {
    val tested = filled(state(new MemoryPool))
    for (n <- 0 until Rows by 3) removeRows(tested.probe(Left, key(n), n.toLong, n.toLong))
    tested.discard(Left, Array(0L), Array(Rows.toLong))
    tested.seal()
    assert(tested.size(Left) == 0 && tested.spilled == 0)
    tested.close()
  }

  test(
    "repeated probes of spilled rows load them only within the memory limit"
  ) {
    for (memory <- Seq(Memory, 16 * Memory)) {
      val pool = new MemoryPool
      val all = filled(state(pool))
      val tested = state(pool, memory)
      all.close()
      filled(tested)
      val before = tested.allocated
      for (_ <- 0 until 4; n <- 0 until 2 * PerVersion)
        assert(tested.probe(Left, key(n), n.toLong, n.toLong).length == 1)
      assert(tested.allocated <= before + memory / 4 + PerVersion * 16)
      tested.seal()
      tested.shrink()
      assert(tested.allocated <= memory)
      tested.close()
    }
  }
}

private object SearchedSegmentsSuite {
  val PerVersion = 2000
  val Versions = 20
  val Rows: Int = PerVersion * Versions
  val Memory: Long = Rows * 12L

  def state(pool: MemoryPool, memory: Long = Memory): SegmentJoinState[String] =
    new SegmentJoinState[String](
      _ => 1,
      _ => 1L << 20,
      _ => SegmentJoinStateSuite.TextCodec,
      Spilling(pool, memory, LocalFiles.create, searchedFrom = 1000)
    )

  def filled(some: SegmentJoinState[String]): SegmentJoinState[String] = {
    for (n <- 0 until Rows) {
      some.append(Left, IdleSegmentsSuite.key(n), n.toLong, Array(n.toLong), s"$n", matched = false)
      if (n % PerVersion == PerVersion - 1) {
        some.number()
        some.seal()
        some.shrink()
      }
    }
    some
  }
}
