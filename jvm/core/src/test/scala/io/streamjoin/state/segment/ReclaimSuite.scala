package io.streamjoin.state.segment

import java.io._

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side.Left
import io.streamjoin.state.Probed
import io.streamjoin.state.segment.history.{History, PackedInput}
import io.streamjoin.state.segment.pages.{
  ChainKind,
  MemoryPool,
  RowCodec,
  SlotPages,
  SpillFile,
  SpilledBytes,
  Spilling
}
import io.streamjoin.testing.{LocalFiles, RandomCases}

/** Rows that are removed individually and replaced, while their segment stays. */
class ReclaimSuite extends AnyFunSuite {
  import ReclaimSuite._
  import SegmentJoinStateSuite.TextCodec

  test("random appends, removals and rollbacks give the rows of a plain map at every version") {
    var onDisk = 0L
    RandomCases.forAll(300) { random =>
      val limits = random.nextInt(3)
      val memory = if (random.nextBoolean()) Long.MaxValue else 1L + random.nextInt(20000)
      val keys = 1 + random.nextInt(40)
      val tested = state(limits, random.nextBoolean(), memory)
      val written = mutable.ArrayBuffer.empty[Array[Byte]]
      // by key and time: the row, and its second limit
      var (now, committed) =
        (Map.empty[(Long, Long), (String, Long)], Map.empty[(Long, Long), (String, Long)])
      var time = 0L
      def check(): Unit = {
        assert(tested.size(Left) == now.size)
        for (key <- 0L until keys.toLong) {
          val found = tested.probe(Left, key, Long.MinValue, Long.MaxValue).map(_.row).toList
          assert(found.sorted == now.collect { case ((`key`, _), (row, _)) => row }.toList.sorted)
        }
      }
      for (step <- 0 until 60) {
        for (n <- 0 until random.nextInt(60)) {
          val place = (random.nextInt(keys).toLong, random.nextInt(6).toLong)
          val probe = tested.probe(Left, place._1, place._2, place._2)
          assert(probe.map { row =>
            probe.remove()
            row.row
          }.toList == now.get(place).map(_._1).toList)
          now -= place
          if (random.nextInt(3) > 0) {
            val row = s"$step.$n " + "x" * random.nextInt(if (random.nextInt(9) == 0) 300 else 20)
            // the first limit never expires; the second expires row by row
            val due = time + random.nextInt(20)
            val of = Array(Long.MaxValue, due).take(limits)
            tested.append(Left, place._1, place._2, of, row, matched = false)
            now += place -> (row -> due)
          }
        }
        if (limits == 2 && random.nextInt(4) == 0) {
          time += random.nextInt(10)
          tested.discard(Left, Array(0L, 0L), Array(0L, time))
          now = now.filter { case (_, (_, due)) => due >= time }
        }
        if (random.nextInt(4) == 0) {
          tested.rollback()
          now = committed
        } else {
          tested.number()
          written += bytes(tested.writeChange)
          tested.seal()
          committed = now
          if (random.nextInt(3) == 0) tested.shrink()
        }
        check()
        onDisk += tested.spilled
      }
      tested.close()
      if (written.nonEmpty) {
        val again = state(limits, timeIndex = true)
        again.restore(read =>
          written.reverseIterator.foreach(v =>
            read(new PackedInput(new ByteArrayInputStream(v)))
          )
        )
        val rows = mutable.ListBuffer.empty[String]
        again.foreach(Left)(rows += _.row)
        assert(rows.sorted == committed.values.map(_._1).toList.sorted)
      }
    }
    if (RandomCases.all) assert(onDisk > 0)
  }

  /** A state of which some numbers are free. */
  private def withFreeNumbers(count: Int): SegmentJoinState[String] = {
    val tested = state(timeIndex = true)
    for (n <- 0 until 40) add(tested, key = n, time = n, row = s"$n")
    tested.number()
    tested.seal()
    for (n <- 0 until count) removeRows(tested, n, n)
    tested.seal()
    tested
  }

  test("rows that are appended, marked and removed within a version leave no trace in it") {
    for (free <- Seq(0, 3)) {
      def version(passing: Boolean) = {
        val tested = withFreeNumbers(free)
        if (passing) for (n <- 50 until 60) {
          add(tested, key = n, time = n, row = s"$n")
          val probe = tested.probe(Left, n, n, n)
          probe.foreach { _ =>
            probe.setMatched()
            probe.remove()
          }
        }
        tested.number()
        bytes(tested.writeChange).toSeq
      }
      assert(version(passing = true) == version(passing = false), s"$free free numbers")
    }
  }

  test("after a rollback, the same changes are written as the same bytes") {
    for (free <- Seq(0, 3)) {
      val tested = withFreeNumbers(free)
      def version() = {
        for (n <- 50 until 60) add(tested, key = n, time = n, row = s"$n")
        for (n <- 5 until 8) replace(tested, key = n, time = n, row = s"new $n")
        tested.number()
        bytes(tested.writeChange).toSeq
      }
      val first = version()
      tested.rollback()
      assert(version() == first, s"$free free numbers")
    }
  }

  test("merged versions do not have the mark of a row that they remove") {
    def merged(marks: Boolean) = {
      val tested = withFreeNumbers(0)
      def version(change: Probed[String] => Unit) = {
        val found = tested.probe(Left, 7, 7, 7)
        found.foreach(_ => change(found))
        tested.number()
        val written = bytes(tested.writeChange)
        tested.seal()
        written
      }
      val versions = Seq(version(row => if (marks) row.setMatched()), version(_.remove()))
      bytes(History.merge(_, whole = false)(readingBack(versions))).toSeq
    }
    assert(merged(marks = true) == merged(marks = false))
  }

  test("a row that is removed twice counts once") {
    val tested = withFreeNumbers(0)
    val probe = tested.probe(Left, 7, 7, 7)
    probe.next()
    for (_ <- 1 to 2) probe.remove()
    assert(tested.size(Left) == 39)
    tested.rollback()
    assert(tested.size(Left) == 40)
  }

  private def hash(n: Int): Long = n * 0x9e3779b97f4a7c15L

  for (timeIndex <- Seq(false, true))
    test(s"replacing the row of a key 200,000 times needs no more memory, time index: $timeIndex") {
      val tested = state(timeIndex = timeIndex)
      for (n <- 0 until 1000) add(tested, key = hash(n), time = 0, row = s"$n")
      tested.seal()
      val before = tested.allocated
      for (n <- 0 until 200000) {
        replace(tested, key = hash(7), time = 0, row = s"$n " + "x" * (n % 50))
        if (n % 2 == 0) tested.seal()
      }
      tested.seal()
      assert(tested.size(Left) == 1000)
      assert(tested.allocated < before + (1 << 16))
    }

  test("with a time index, a row of a large key is replaced without a walk over the key's chain") {
    val tested = state(timeIndex = true)
    val rows = 50000
    for (n <- 0 until rows) add(tested, key = 1, time = n, row = s"$n")
    tested.seal()
    assert(tested.probe(Left, 1, 0, 0).length == 1)
    val before = tested.allocated
    // a walk over the key's chain for each row would take minutes
    for (round <- 1 to 6; n <- 0 until rows) {
      replace(tested, key = 1, time = n, row = s"$n.$round")
      if (n % 1000 == 0) tested.seal()
    }
    tested.seal()
    assert(tested.size(Left) == rows)
    assert(tested.allocated < before * 2)
    assert(tested.probe(Left, 1, Long.MinValue, Long.MaxValue).length == rows)
    for (n <- 0 until rows by 997)
      assert(tested.probe(Left, 1, n, n).map(_.row).toList == List(s"$n.6"))
  }

  test("a chain is at most 1.6 times as long as its live rows") {
    val segment = new Segment(0, 9, 0, new SpilledBytes(new SpillFile(LocalFiles.create)))
    def append(n: Int): Unit =
      segment.append(5, n, Array.emptyLongArray, s"$n", TextCodec, matched = false, n)
    def length: Int = {
      var (count, i) = (0, segment.chain(SlotPages.hash(5)))
      while (i != 0) {
        count += 1
        i = segment.older(i - 1, ChainKind.OfKey)
      }
      count
    }
    val rows = mutable.Queue.empty[Int]
    for (n <- 0 until 1000) append(n)
    segment.seal()
    rows ++= 0 until 1000
    for (_ <- 0 until 5000) {
      val deleted = rows.dequeue()
      segment.setDeleted(deleted, deleted = true)
      segment.reclaim(deleted)
      val before = segment.length
      append(0)
      // the reused number, or a new one
      rows += (if (segment.length > before) before else freshOf(segment))
      segment.seal()
      assert(length <= 1600)
    }
    assert(segment.length <= 1600 && segment.live == 1000)
  }

  test("rows that are discarded before an index exists free their place for new rows") {
    for (timeIndex <- Seq(false, true)) {
      val tested = state(limits = 2, timeIndex)
      def append(n: Int): Unit =
        tested.append(Left, n % 7, n, Array(Long.MaxValue, n.toLong), s"$n", matched = false)
      (0 until 3000).foreach(append)
      tested.seal()
      val before = tested.allocated
      for (round <- 1 to 10) {
        tested.discard(Left, Array(0L, 0L), Array(0L, round * 1000L))
        (round * 1000 + 2000 until round * 1000 + 3000).foreach(append)
        if (round % 3 == 0) tested.rollback() else tested.seal()
        if (round % 3 == 0) {
          tested.discard(Left, Array(0L, 0L), Array(0L, round * 1000L))
          tested.seal()
          (round * 1000 + 2000 until round * 1000 + 3000).foreach(append)
          tested.seal()
        }
      }
      // some rows of a version were appended before others were deleted
      assert(tested.allocated < before * 2)
      for (key <- 0 until 7) {
        val rows = (10000 until 13000).filter(_ % 7 == key)
        assert(tested.probe(Left, key, 0, 13000).map(_.row.toInt).toList.sorted == rows)
        assert(tested.probe(Left, key, rows(3), rows(3)).map(_.row).toList == List(s"${rows(3)}"))
        assert(tested.probe(Left, key, rows(3) - 7 * 1000, rows(3) - 7 * 1000).isEmpty)
      }
    }
  }

  test("rows of zero bytes are stored, removed and restored") {
    val none = new RowCodec[Unit] {
      override def size(row: Unit): Int = 0
      override def write(row: Unit, into: Array[Byte], at: Int): Unit = assert(into != null)
      override def read(from: Array[Byte], at: Int, size: Int): Unit = ()
    }
    def state(memory: Long) = new SegmentJoinState[Unit](
      _ => 0,
      _ => 1L,
      _ => none,
      Spilling(new MemoryPool, memory, LocalFiles.create),
      timeIndex = _ => true
    )
    for (memory <- Seq(Long.MaxValue, 1L)) {
      val tested = state(memory)
      val written = mutable.ArrayBuffer.empty[Array[Byte]]
      for (round <- 0 until 20) {
        for (n <- 0 until 50)
          tested.append(Left, n % 3, 0, Array.emptyLongArray, (), matched = false)
        if (round % 2 == 0) {
          val probe = tested.probe(Left, 1, 0, 0)
          probe.foreach(_ => probe.remove())
        }
        if (round % 5 == 4) tested.rollback()
        else {
          tested.number()
          written += bytes(tested.writeChange)
          tested.seal()
          tested.shrink()
        }
      }
      val again = state(memory)
      again.restore(read =>
        written.reverseIterator.foreach(v => read(new PackedInput(new ByteArrayInputStream(v))))
      )
      for (key <- 0 until 3)
        assert(again.probe(Left, key, 0, 0).length == tested.probe(Left, key, 0, 0).length)
      assert(tested.size(Left) == again.size(Left) && tested.size(Left) > 500)
      tested.close()
      again.close()
    }
  }

  test("removing nine of ten rows frees memory, and a probe finds the others") {
    for (memory <- Seq(Long.MaxValue, 1L << 18)) {
      val tested = state(timeIndex = true, memory = memory)
      for (n <- 0 until 20000) add(tested, key = n, time = n, row = s"$n " + "x" * 100)
      tested.seal()
      tested.shrink()
      assert(tested.probe(Left, 0, 0, 0).length == 1)
      val (before, disk) = (tested.allocated, tested.spilled)
      for (n <- 0 until 20000 if n % 10 != 0) removeRows(tested, n, n)
      tested.seal()
      assert(tested.allocated < before / 4)
      assert(tested.spilled <= disk)
      for (n <- 0 until 20000 by 10)
        assert(tested.probe(Left, n, n, n).map(_.row).toList == List(s"$n " + "x" * 100))
      // a rollback undoes only the replacements after the seal
      for (n <- 0 until 500) replace(tested, n * 10L, n * 10L, "new")
      tested.rollback()
      for (n <- 0 until 20000 by 10)
        assert(tested.probe(Left, n, n, n).map(_.row).toList == List(s"$n " + "x" * 100))
      tested.close()
    }
  }

  test("rows that are moved from a half empty segment on the disk return to the disk") {
    val tested = state(timeIndex = true, memory = 1 << 18)
    for (n <- 0 until 40000) add(tested, hash(n), time = n, row = s"$n " + "x" * 200)
    tested.seal()
    tested.shrink()
    val before = tested.allocated
    for (n <- 0 until 40000 if n % 4 != 0) removeRows(tested, hash(n), n)
    tested.seal()
    assert(tested.size(Left) == 10000)
    assert(tested.allocated < before / 2)
    for (n <- 0 until 40000 by 4)
      assert(tested.probe(Left, hash(n), n, n).map(_.row).toList == List(s"$n " + "x" * 200))
    tested.close()
  }
}

private object ReclaimSuite {
  import SegmentJoinStateSuite.TextCodec

  def state(
      limits: Int = 0,
      timeIndex: Boolean = false,
      memory: Long = Long.MaxValue
  ): SegmentJoinState[String] =
    new SegmentJoinState[String](
      _ => limits,
      _ => 1,
      _ => TextCodec,
      Spilling(new MemoryPool, memory, LocalFiles.create),
      _ => timeIndex
    )

  def add(state: SegmentJoinState[String], key: Long, time: Long, row: String): Unit =
    state.append(Left, key, time, Array.emptyLongArray, row, matched = false)

  def removeRows(state: SegmentJoinState[String], key: Long, time: Long): Unit =
    SegmentJoinStateSuite.removeRows(state.probe(Left, key, time, time))

  def replace(state: SegmentJoinState[String], key: Long, time: Long, row: String): Unit = {
    removeRows(state, key, time)
    add(state, key, time, row)
  }

  def freshOf(segment: Segment): Int = {
    var found = -1
    segment.foreachFresh(row => found = row)
    found
  }

  /** Versions from the last to the first, for a state to be restored from. */
  def readingBack(written: collection.Seq[Array[Byte]])(read: PackedInput => Unit): Unit =
    written.reverseIterator.foreach(v => read(new PackedInput(new ByteArrayInputStream(v))))

  def bytes(write: DataOutputStream => Unit): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    val out = new DataOutputStream(buffer)
    write(out)
    out.flush()
    buffer.toByteArray
  }
}
