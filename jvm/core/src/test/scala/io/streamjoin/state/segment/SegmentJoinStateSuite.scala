package io.streamjoin.state.segment

import java.io._

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.state.{Probed, Watched}
import io.streamjoin.state.segment.history.PackedInput
import io.streamjoin.state.segment.pages.{MemoryPool, RowCodec, Spilling}
import io.streamjoin.testing.{LocalFiles, RandomCases}

class SegmentJoinStateSuite extends AnyFunSuite {
  import SegmentJoinStateSuite._

  private def state(
      limits: Int = 1,
      span: Long = 10,
      memory: Long = Long.MaxValue,
      codec: RowCodec[String] = TextCodec,
      timeIndex: Boolean = false,
      watched: Watched[String] = Watched.nothing[String]
  ): SegmentJoinState[String] =
    new SegmentJoinState[String](
      _ => limits,
      _ => span,
      _ => codec,
      Spilling(new MemoryPool, memory, LocalFiles.create),
      _ => timeIndex,
      _ => watched
    )

  test("appending more rows than memory holds fails during the batch") {
    val pool = new MemoryPool
    val spilling = Spilling(pool, Long.MaxValue, LocalFiles.create, most = 8L << 20)
    val tested =
      new SegmentJoinState[String](_ => 1, _ => 1, _ => TextCodec, spilling)
    var came = 0L
    intercept[IllegalStateException] {
      while (came < 4000000) {
        tested.append(Left, came, came, Array(came), "row", matched = false)
        came += 1
      }
    }
    assert(came < 400000)
    tested.rollback()
    assert(tested.size(Left) == 0)
  }

  test("random appends, probes, removals and evictions give the rows of a plain list") {
    var onDisk = 0L
    RandomCases.forAll(400) { random =>
      val limits = 1 + random.nextInt(2)
      val memory = if (random.nextBoolean()) Long.MaxValue else 1L + random.nextInt(40000)
      val tested = state(limits, 1L << random.nextInt(6), memory, watched = Lengths)
      val model = new Model
      val watermarks = Array.fill(limits)(0L)
      for (step <- 0 until 120) {
        val side = Side.both(random.nextInt(2))
        random.nextInt(10) match {
          case 0 =>
            val before = watermarks.clone()
            for (k <- watermarks.indices) watermarks(k) += random.nextInt(12)
            for (s <- Side.both) {
              val evicted = tested.evict(s, before, watermarks).map(r => (r.row, r.matched)).toList
              assert(evicted.sorted == model.evict(s, watermarks))
            }
          case 1 =>
            tested.seal()
            model.commit()
            if (random.nextBoolean()) tested.shrink()
          case 2 if random.nextInt(4) == 0 =>
            tested.rollback()
            model.rollback()
            if (random.nextBoolean()) tested.shrink()
          case 3 | 4 =>
            val (key, from) = (random.nextInt(4).toLong, random.nextInt(60).toLong)
            val (found, expected) = model.probeBoth(tested, side, key, from)
            assert(found == expected)
          case _ =>
            val time = watermarks(0) + random.nextInt(60)
            val of = Array.fill(limits)(time + random.nextInt(if (limits == 1) 1 else 30))
            val row = Row(random.nextInt(4).toLong, time, of, s"$step" + "x" * random.nextInt(20))
            tested.append(side, row.key, time, of, row.row, matched = false)
            model.append(side, row)
        }
        for (s <- Side.both) {
          val rows = model.rows(s)
          assert(tested.size(s) == rows.length, s"$s at step $step")
          for (k <- 0 until limits) {
            def least(of: collection.Seq[Row]) =
              of.map(_.limits(k)).minOption.getOrElse(Long.MaxValue)
            assert(tested.least(s, k) == least(rows))
            assert(tested.leastUnmatched(s, k) == least(rows.filterNot(_.matched)))
          }
          val shortest = rows.map(_.row.length.toLong).minOption.getOrElse(Long.MaxValue)
          assert(tested.least(s, limits) == shortest, s"$s at step $step")
          assert(tested.least(s, limits + 1) == Watermarks.Unknown)
        }
        onDisk += tested.spilled
      }
      tested.close()
    }
    if (RandomCases.all) assert(onDisk > 0)
  }

  test("a probe of a key in many segments finds only the rows of its time range") {
    val tested = state(span = 4)
    for (time <- 0L until 5000L)
      tested.append(Left, 1, time, Array(time), s"$time", matched = false)
    assert(tested.probe(Left, 1, 1000, 1009).map(_.row.toLong).toSet == (1000L to 1009L).toSet)
    assert(tested.probe(Right, 1, 0, 5000).isEmpty)
    assert(tested.probe(Left, 2, 0, 5000).isEmpty)
  }

  test("a segment builds no index before its first probe") {
    val tested = state(span = 1000)
    for (n <- 0 until 100000)
      tested.append(Left, n % 97, n, Array(n.toLong), s"$n", matched = false)
    val without = tested.allocated
    assert(tested.probe(Right, 5, 0, 100000).isEmpty)
    assert(tested.probe(Left, 5, 100000, 200000).isEmpty)
    assert(tested.allocated == without)
    // two of the hundred segments: an index slot of a row takes 8 to 16 bytes
    assert(tested.probe(Left, 50005 % 97, 49995, 50005).map(_.row.toInt).toList == List(50005))
    assert(tested.allocated > without && tested.allocated <= without + 2 * 1024 * 16)
    assert(tested.probe(Left, 5, 0, 100000).length == 1031)
    assert(tested.allocated > without + 100000 * 8L)
  }

  test("a rollback undoes many rows of a large segment") {
    val tested = state(span = 1 << 20)
    def append(from: Int, until: Int): Unit =
      for (n <- from until until)
        tested.append(Left, n % 97, n, Array(n.toLong), s"$n", matched = false)
    def check(count: Int): Unit = {
      assert(tested.size(Left) == count)
      for (key <- 0 until 97) {
        val found = tested.probe(Left, key, 1000, 30000).map(_.row.toInt).toList.sorted
        assert(found == (1000 until count).filter(n => n % 97 == key && n <= 30000).toList)
      }
    }
    append(0, 3000)
    tested.seal()
    check(3000)
    for (count <- Seq(3001, 5000, 40000)) {
      append(3000, count)
      check(count)
      tested.rollback()
      check(3000)
    }
    append(3000, 40000)
    tested.seal()
    check(40000)
  }

  test("a probe finds each row in segments of thousands of rows") {
    val tested = state(span = 1 << 12)
    for (n <- 0 until 20000) tested.append(Left, n, n, Array(n.toLong), s"$n", matched = false)
    assert((0 until 20000 by 7).forall(n =>
      tested.probe(Left, n, n, n).map(_.row).toList == List(s"$n")
    ))
  }

  test("limits and times at the ends of Long are probed and evicted") {
    val tested = state()
    val ends = Seq(Long.MaxValue, Long.MinValue, 0L)
    for (end <- ends) tested.append(Left, 1, end, Array(end), s"$end", matched = false)
    assert(tested.probe(Left, 1, Long.MinValue, Long.MaxValue).length == 3)
    assert(tested.evict(Left, Array(Long.MinValue), Array(1L)).map(_.row).toSet ==
      Set(s"${Long.MinValue}", "0"))
    assert(tested.evict(Left, Array(1L), Array(Long.MaxValue)).isEmpty)
    assert(tested.size(Left) == 1)
  }

  test("rows larger than a chunk are probed and rolled back") {
    val tested = state()
    val large = "y" * (3 << 20)
    tested.append(Left, 1, 1, Array(1L), "small", matched = false)
    tested.append(Left, 1, 2, Array(2L), large, matched = false)
    tested.append(Left, 1, 3, Array(3L), "small too", matched = false)
    assert(tested.probe(Left, 1, 0, 9).map(_.row).toSet == Set("small", large, "small too"))
    tested.rollback()
    assert(tested.size(Left) == 0 && tested.probe(Left, 1, 0, 9).isEmpty)
  }

  test("eviction frees the memory of the rows") {
    val tested = state(span = 100)
    for (time <- 0L until 20000L) {
      tested.append(Left, time, time, Array(time), "z" * 100, matched = false)
      if (time % 500 == 0) {
        tested.evict(Left, Array(0L), Array(time - 1000)).foreach(_ => ())
        tested.seal()
      }
    }
    assert(tested.size(Left) < 1600)
    assert(tested.allocated < (4 << 20))
  }

  test("the rows that expire last are spilled first, and no more than necessary") {
    val memory = 3L << 20
    val tested = state(span = 100, memory = memory)
    for (time <- 0L until 5000L)
      tested.append(Left, time, time, Array(time), "z" * 1000, matched = false)
    tested.seal()
    val before = tested.allocated
    tested.shrink()
    assert(tested.allocated <= memory && tested.allocated > memory - (1 << 19))
    val spilled = tested.spilled
    assert(spilled >= before - tested.allocated)
    tested.shrink()
    assert(tested.spilled == spilled)
    // the rows that expire first are in memory, so nothing on disk becomes free
    tested.discard(Left, Array(0L), Array(1000L))
    tested.seal()
    assert(tested.spilled == spilled)
    tested.discard(Left, Array(1000L), Array(5000L))
    tested.seal()
    assert(tested.spilled == 0)
    tested.close()
  }

  test("shrink is refused while rows can still be rolled back") {
    val tested = state(memory = 1)
    tested.append(Left, 1, 1, Array(1L), "new", matched = false)
    intercept[IllegalStateException](tested.shrink())
    tested.close()
  }

  test("the spill file does not grow while rows come and expire") {
    val tested = state(span = 100, memory = 1)
    var (early, late) = (0L, 0L)
    for (time <- 0L until 60000L) {
      tested.append(Left, time, time, Array(time), "z" * 100, matched = false)
      if (time % 500 == 0) {
        for (row <- tested.evict(Left, Array(0L), Array(time - 1000))) assert(row.row == "z" * 100)
        tested.seal()
        tested.shrink()
        if (time < 20000) early = math.max(early, tested.spilled)
        else late = math.max(late, tested.spilled)
      }
    }
    assert(early > 0 && late <= early)
    tested.close()
  }

  test("a rollback frees the disk space of a segment without rows") {
    val tested = state(memory = 1)
    tested.append(Left, 1, 1, Array(1L), "one", matched = false)
    tested.seal()
    tested.shrink()
    assert(tested.spilled > 0)
    removeRows(tested.probe(Left, 1, 1, 1))
    tested.seal()
    tested.rollback()
    assert(tested.spilled == 0)
    tested.close()
  }

  test("a restore of a state larger than memory stays within the memory limit") {
    val rows = for (n <- 0 until 20000) yield s"$n " + "z" * (500 + n % 1000)
    val written = state(span = 1000)
    for (n <- rows.indices) {
      val side = Side.both(n % 2)
      written.append(side, n.toLong, n.toLong, Array(n.toLong), rows(n), matched = n % 3 == 0)
    }
    written.number()
    val buffer = new ByteArrayOutputStream
    written.writeChange(new DataOutputStream(buffer))

    val memory = 5L << 20
    var peak = 0L
    var target = Option.empty[SegmentJoinState[String]]
    val watching = new RowCodec[String] {
      override def size(row: String): Int = TextCodec.size(row)
      override def write(row: String, into: Array[Byte], at: Int): Unit =
        TextCodec.write(row, into, at)
      override def read(from: Array[Byte], at: Int, size: Int): String = {
        peak = math.max(peak, target.get.allocated)
        TextCodec.read(from, at, size)
      }
    }
    val restored = state(span = 1000, memory = memory, codec = watching)
    target = Some(restored)
    restored.restore(_(new PackedInput(new ByteArrayInputStream(buffer.toByteArray))))
    assert(written.allocated > 3 * memory)
    assert(peak > memory && peak < memory + (1 << 20))
    assert(restored.allocated <= memory)
    assert(restored.spilled > 2 * memory)
    for (n <- rows.indices) {
      val found = restored.probe(Side.both(n % 2), n.toLong, n.toLong, n.toLong)
        .map(r => (r.row, r.matched)).toList
      assert(found == List((rows(n), n % 3 == 0)))
    }
    restored.close()
  }
}

private object SegmentJoinStateSuite {

  def removeRows(found: Probed[_]): Unit = found.foreach(_ => found.remove())

  object TextCodec extends RowCodec[String] {
    private def padded(n: Int) = (n + 4 + 7) / 8 * 8

    override def size(row: String): Int = padded(row.getBytes("UTF-8").length)

    override def write(row: String, into: Array[Byte], at: Int): Unit = {
      val text = row.getBytes("UTF-8")
      java.nio.ByteBuffer.wrap(into).putInt(at, text.length)
      System.arraycopy(text, 0, into, at + 4, text.length)
    }

    override def read(from: Array[Byte], at: Int, size: Int): String = {
      val length = java.nio.ByteBuffer.wrap(from).getInt(at)
      assert(size == padded(length))
      new String(from, at + 4, length, "UTF-8")
    }
  }

  final case class Row(key: Long, time: Long, limits: Array[Long], row: String) {
    var matched = false
  }

  /** Watches the length of a row. */
  object Lengths extends Watched[String] {
    override def count: Int = 1
    override def read(row: String, into: Array[Long], at: Int): Unit = into(at) = row.length.toLong
  }

  /** A state as plain lists. */
  final class Model {
    private val now = Map[Side, mutable.ArrayBuffer[Row]](
      Left -> mutable.ArrayBuffer.empty,
      Right -> mutable.ArrayBuffer.empty
    )
    private var saved: Map[Side, Seq[(Row, Boolean)]] = Map(Left -> Nil, Right -> Nil)

    def rows(side: Side): mutable.ArrayBuffer[Row] = now(side)
    def append(side: Side, row: Row): Unit = now(side) += row

    def probe(side: Side, key: Long, from: Long, to: Long): List[Row] =
      now(side).filter(r => r.key == key && r.time >= from && r.time <= to).toList

    def remove(side: Side, row: Row): Unit = now(side).filterInPlace(_ ne row)

    /**
     * The rows that both find for a key within twenty units of time. Marks some and removes some.
     */
    def probeBoth(
        tested: SegmentJoinState[String],
        side: Side,
        key: Long,
        from: Long
    ): (List[String], List[String]) = {
      def marks(row: String) = row.hashCode % 3 == 0
      def isRemoved(row: String) = row.hashCode % 7 == 0
      val (found, expected) =
        (tested.probe(side, key, from, from + 20), probe(side, key, from, from + 20))
      val rows = found.map { row =>
        if (marks(row.row)) found.setMatched()
        if (isRemoved(row.row)) found.remove()
        row.row
      }.toList
      for (row <- expected) {
        if (marks(row.row)) row.matched = true
        if (isRemoved(row.row)) remove(side, row)
      }
      (rows.sorted, expected.map(_.row).sorted)
    }

    def evict(side: Side, watermarks: Array[Long]): List[(String, Boolean)] = {
      val (evicted, left) = now(side).partition(_.limits.zip(watermarks).exists { case (l, w) =>
        l < w
      })
      now(side).clear()
      now(side) ++= left
      evicted.map(r => (r.row, r.matched)).toList.sorted
    }

    def commit(): Unit = saved = now.view.mapValues(_.map(r => (r, r.matched)).toSeq).toMap

    def rollback(): Unit = for ((side, rows) <- saved) {
      now(side).clear()
      now(side) ++= rows.map { case (r, matched) =>
        r.matched = matched
        r
      }
    }
  }
}
