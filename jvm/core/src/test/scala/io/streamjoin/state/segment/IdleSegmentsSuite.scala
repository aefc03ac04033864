package io.streamjoin.state.segment

import scala.collection.mutable
import scala.util.Random

import org.scalatest.Assertions
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side
import io.streamjoin.model.Side.Left
import io.streamjoin.state.segment.pages.{MemoryPool, Spilling}
import io.streamjoin.testing.{LocalFiles, RandomCases}

/**
 * Segments that no batch reads for some versions, while memory is short: they are spilled entirely.
 */
class IdleSegmentsSuite extends AnyFunSuite {
  import IdleSegmentsSuite._
  import ReclaimSuite.{bytes, readingBack}
  import SegmentJoinStateSuite._

  test("segments that are spilled entirely and loaded again hold the rows of a plain list") {
    var wentToDisk = 0
    RandomCases.forAll(60) { random =>
      val limits = 1 + random.nextInt(2)
      val pool = new MemoryPool
      val memory = 1 + random.nextInt(20000).toLong
      def empty() = new SegmentJoinState[String](
        _ => limits,
        _ => 50L,
        _ => TextCodec,
        Spilling(pool, memory, LocalFiles.create),
        _ => false,
        _ => Lengths
      )
      var tested = empty()
      val model = new Model
      val written = mutable.ArrayBuffer.empty[Array[Byte]]
      val watermarks = Array.fill(limits)(0L)
      var committed = watermarks.clone()
      // some states are probed often, some hardly ever
      val probes = random.nextInt(4)
      for (version <- 0 until 60) {
        if (random.nextInt(3) == 0) {
          expire(tested, model, watermarks, random)
        }
        val begin = math.max(version * 10L, watermarks.max)
        for (n <- 0 until random.nextInt(80)) {
          val side = Side.both(random.nextInt(2))
          val time = begin + random.nextInt(30)
          val of = Array.fill(limits)(time + random.nextInt(if (limits == 1) 1 else 200))
          val row =
            Row(random.nextInt(4).toLong, time, of, s"$version.$n" + "x" * random.nextInt(9))
          tested.append(side, row.key, time, of, row.row, matched = false)
          model.append(side, row)
        }
        for (_ <- 0 until random.nextInt(1 + probes)) {
          val side = Side.both(random.nextInt(2))
          val (key, from) = (random.nextInt(4).toLong, random.nextInt(version * 10 + 30).toLong)
          val (found, expected) = model.probeBoth(tested, side, key, from)
          assert(found == expected)
        }
        if (random.nextInt(6) == 0) {
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
          tested.report()
          val before = pool.fixed
          tested.shrink()
          if (pool.fixed < before) wentToDisk += 1
        }
        if (random.nextInt(15) == 0 && written.nonEmpty) {
          tested.close()
          tested = empty()
          tested.restore(readingBack(written))
        }
        requireAlike(tested, model, limits, s"version $version", random)
      }
      tested.close()
    }
    if (RandomCases.all) assert(wentToDisk > 100)
  }

  test(
    "rows that pile up while the other input is idle are spilled, then joined in order"
  ) {
    val waiting = new Waiting(memory = 1 << 19)
    import waiting._
    assert(tested.spilled > Rows * 48L)
    // idle segments; in memory, index and numbers take 60 bytes a row and more
    assert(pool.fixed < Rows * 8L)
    var most = 0L
    for (batch <- 0 until Batches) {
      for (n <- batch * PerBatch until (batch + 1) * PerBatch) {
        val found = tested.probe(Left, key(n), n - 100L, n.toLong)
        assert(found.map(_.row).toList == List(s"$n"))
        if (n % 2 == 0) tested.probe(Left, key(n), n.toLong, n.toLong).foreach(_ => ())
      }
      most = math.max(most, tested.allocated)
      tested.discard(Left, Array((batch - 1) * PerBatch.toLong), Array(batch * PerBatch.toLong))
      next()
    }
    assert(most < Rows * 12L)
    tested.close()
  }

  test("eviction of spilled unmatched rows reads the disk page by page") {
    val waiting = new Waiting(memory = 1)
    import waiting._
    var (count, most) = (0, 0L)
    for (row <- tested.evict(Left, Array(0L), Array(Rows / 2 + 7L))) {
      assert(row.row == s"${row.time}" && !row.matched)
      count += 1
      most = math.max(most, tested.allocated)
    }
    assert(count == Rows / 2 + 7)
    assert(most < Rows * 4L)
    // undo the eviction
    tested.rollback()
    tested.shrink()
    assert(tested.size(Left) == Rows)
    for (n <- 0 until Rows by 97)
      assert(tested.probe(Left, key(n), n.toLong, n.toLong).map(_.row).toList == List(s"$n"))
    tested.close()
  }

  test("loading spilled segments fails above the memory limit, and a rollback recovers") {
    val waiting = new Waiting(memory = 1, most = Rows * 24L)
    import waiting._
    val before = pool.fixed
    intercept[IllegalStateException] {
      for (n <- 0 until Rows) tested.probe(Left, key(n), n.toLong, n.toLong).foreach(_ => ())
    }
    assert(pool.fixed > Rows * 24L && pool.fixed < Rows * 30L)
    tested.rollback()
    // a few versions later the memory is as before
    for (_ <- 0 to 4) tested.seal()
    tested.shrink()
    assert(pool.fixed <= before + (1 << 17))
    for (n <- 0 until Rows / 4 by 97)
      assert(tested.probe(Left, key(n), n.toLong, n.toLong).map(_.row).toList == List(s"$n"))
    tested.close()
    assert(pool.fixed == 0 && pool.used == 0)
  }

  test("a restore succeeds if not even the numbers of the rows fit in memory") {
    val waiting = new Waiting(memory = Long.MaxValue)
    assert(waiting.pool.fixed > Rows * 48L)
    val pool = new MemoryPool
    val tested = state(Spilling(pool, 1 << 19, LocalFiles.create, most = Rows * 24L))
    tested.restore(readingBack(waiting.written))
    assert(tested.size(Left) == Rows)
    for (n <- 0 until Rows / 4 by 97)
      assert(tested.probe(Left, key(n), n.toLong, n.toLong).map(_.row).toList == List(s"$n"))
    waiting.tested.close()
    tested.close()
  }

  test("a segment that each batch probes stays in memory, however short memory is") {
    val waiting = new Waiting(memory = 1)
    import waiting._
    for (n <- 0 until 10 * PerBatch)
      tested.probe(Left, key(n), n.toLong, n.toLong).foreach(_ => ())
    val allocated = tested.allocated
    val spilled = tested.spilled
    for (_ <- 0 until 10) {
      next()
      for (n <- 0 until 10 * PerBatch)
        assert(tested.probe(Left, key(n), n.toLong, n.toLong).length == 1)
      assert(tested.allocated <= allocated)
      assert(tested.spilled == spilled)
    }
    assert(allocated > 10 * PerBatch * 50L)
    // without probes, the segments are spilled
    for (_ <- 0 to 4) next()
    assert(tested.allocated < allocated / 4)
    tested.close()
  }
}

private object IdleSegmentsSuite extends Assertions {
  import ReclaimSuite.bytes
  import SegmentJoinStateSuite.Model

  val PerBatch = 2000
  val Batches = 50
  val Rows: Int = PerBatch * Batches

  def key(n: Int): Long = n * 0x9e3779b97f4a7c15L

  def least(of: collection.Seq[Long]): Long = of.minOption.getOrElse(Long.MaxValue)

  /** Moves the watermarks on, and evicts by them or discards. */
  def expire(
      tested: SegmentJoinState[String],
      model: Model,
      watermarks: Array[Long],
      random: Random
  ): Unit = {
    val before = watermarks.clone()
    for (k <- watermarks.indices) watermarks(k) += random.nextInt(40)
    for (side <- Side.both) {
      val expected = model.evict(side, watermarks)
      if (random.nextBoolean()) {
        val evicted = tested.evict(side, before, watermarks)
        assert(evicted.map(r => (r.row, r.matched)).toList.sorted == expected)
      } else tested.discard(side, before, watermarks)
    }
  }

  /** Compares sizes and least limits with the model, and now and then all rows. */
  def requireAlike(
      tested: SegmentJoinState[String],
      model: Model,
      limits: Int,
      when: String,
      random: Random
  ): Unit =
    for (side <- Side.both) {
      val rows = model.rows(side)
      assert(tested.size(side) == rows.length, s"$side in $when")
      for (k <- 0 until limits) {
        assert(tested.least(side, k) == least(rows.map(_.limits(k))), when)
        val alone = tested.leastUnmatched(side, k)
        // matched rows on the disk are not distinguished
        assert(alone >= tested.least(side, k))
        assert(alone <= least(rows.filterNot(_.matched).map(_.limits(k))))
      }
      assert(tested.least(side, limits) == least(rows.map(_.row.length.toLong)))
      if (random.nextInt(10) == 0) {
        val shown = mutable.ListBuffer.empty[(String, Boolean)]
        tested.foreach(side)(row => shown += row.row -> row.matched)
        assert(shown.toList.sorted == rows.map(r => (r.row, r.matched)).toList.sorted)
      }
    }

  def state(spilling: Spilling): SegmentJoinState[String] =
    new SegmentJoinState[String](_ => 1, _ => 1000L, _ => SegmentJoinStateSuite.TextCodec, spilling)

  /** Rows of one side, appended over many versions with ascending times and limits. */
  final class Waiting(memory: Long, most: Long = Long.MaxValue) {
    val pool = new MemoryPool
    val tested: SegmentJoinState[String] = state(Spilling(pool, memory, LocalFiles.create, most))
    val written = mutable.ArrayBuffer.empty[Array[Byte]]

    for (n <- 0 until Rows) {
      tested.append(Left, key(n), n.toLong, Array(n.toLong), s"$n", matched = false)
      if (n % PerBatch == PerBatch - 1) next()
    }
    for (_ <- 0 to 4) next()

    def next(): Unit = {
      tested.number()
      written += bytes(tested.writeChange)
      tested.seal()
      tested.shrink()
    }
  }
}
