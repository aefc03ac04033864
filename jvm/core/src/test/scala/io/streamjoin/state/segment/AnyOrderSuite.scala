package io.streamjoin.state.segment

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side
import io.streamjoin.state.segment.history.History
import io.streamjoin.state.segment.pages.{MemoryPool, Spilling}
import io.streamjoin.testing.RandomCases.onFailure
import io.streamjoin.testing.{LocalFiles, RandomCases}

/**
 * Random operations on the segment state, in any order within a version, with random settings and
 * little memory. Each operator has its own order of operations, so the state must accept any.
 */
class AnyOrderSuite extends AnyFunSuite {
  import AnyOrderSuite._

  test(
    "random operations in any order give the rows of a plain list, also after a restore"
  ) {
    var (searched, read, merged) = (0, 0, 0)
    RandomCases.forAll(150) { random =>
      val drawn = new Case(random)
      withClue(onFailure(drawn.history.mkString("\n", "\n", "\n"))) {
        for (_ <- 0 until 250) {
          drawn.step()
          drawn.check()
        }
        drawn.commit()
        drawn.readBack()
        drawn.check()
        drawn.showAll()
      }
      searched += drawn.searched
      read += drawn.read
      merged += drawn.merged
      drawn.close()
    }
    if (RandomCases.all) assert(searched > 500 && read > 200 && merged > 200)
  }
}

private object AnyOrderSuite {
  import IdleSegmentsSuite.{key, least}
  import ReclaimSuite.{bytes, readingBack}
  import SegmentJoinStateSuite._
  import org.scalatest.Assertions._

  final class Case(random: Random) {
    private val limits = random.nextInt(3)
    private val span = Seq(1L, 20L, 1000L)(random.nextInt(3))
    private val timeIndex = random.nextBoolean()
    private val memory =
      if (random.nextInt(4) == 0) Long.MaxValue else 1 + random.nextInt(20000).toLong
    private val searchedFrom = 1 + random.nextInt(80)
    private val few = random.nextBoolean()

    val history: mutable.ArrayBuffer[String] = mutable.ArrayBuffer(
      s"$limits limits, span $span, index by time $timeIndex, memory $memory, searched from $searchedFrom"
    )
    var (searched, read, merged) = (0, 0, 0)

    private var tested = empty()
    private val model = new Model
    private val written = mutable.ArrayBuffer.empty[Array[Byte]]
    private val watermarks = Array.fill(limits)(0L)
    private var committed = watermarks.clone()
    private var now = 0L
    private var came = 0

    private def empty() = new SegmentJoinState[String](
      _ => limits,
      _ => span,
      _ => TextCodec,
      Spilling(new MemoryPool, memory, LocalFiles.create, searchedFrom = searchedFrom),
      _ => timeIndex,
      _ => Lengths
    )

    private def oneOf(n: Int): Boolean = random.nextInt(n) == 0
    private def anyKey(): Long = key(random.nextInt(if (few) 2 else 12))
    private def anySide(): Side = Side.both(random.nextInt(2))

    def step(): Unit = random.nextInt(20) match {
      case 0 | 1 | 2 | 3 | 4 | 5 | 6 => for (_ <- 0 to random.nextInt(40)) append()
      case 7 | 8 | 9                 => for (_ <- 0 to random.nextInt(6)) probe(random.nextInt(60))
      case 10 | 11                   => for (_ <- 0 to random.nextInt(20)) probe(0)
      case 12 | 13                   => evict()
      case 14 | 15 | 16              => commit()
      case 17                        => rollback()
      case 18 if oneOf(3)            => for (_ <- 0 until 6) commit()
      case 18                        => merge()
      case 19 if oneOf(3)            => readBack()
      case _                         => now += random.nextInt(20)
    }

    private def append(): Unit = {
      val side = anySide()
      came += 1
      now += random.nextInt(2)
      val time = now + random.nextInt(30) - 15
      def limit(k: Int) =
        if (oneOf(15)) Long.MaxValue else watermarks(k) + random.nextInt(if (k == 0) 60 else 300)
      val length = if (oneOf(40)) random.nextInt(5000) else random.nextInt(12)
      val row = Row(anyKey(), time, Array.tabulate(limits)(limit), s"$came" + "x" * length)
      row.matched = oneOf(6)
      tested.append(side, row.key, time, row.limits, row.row, row.matched)
      model.append(side, row)
    }

    /** Probes, marks some of the found rows as matched and removes some. */
    private def probe(reach: Int): Unit = {
      val side = anySide()
      val of = anyKey()
      val from = now - random.nextInt(80)
      val to = if (oneOf(8)) Long.MaxValue else from + reach
      val what = mutable.HashMap.empty[String, Int]
      val found = tested.probe(side, of, from, to)
      val shown = found.map { row =>
        what(row.row) = random.nextInt(8)
        if (what(row.row) < 3) found.setMatched()
        if (what(row.row) == 0 || what(row.row) == 5) found.remove()
        row.row
      }.toList.sorted
      val expected = model.probe(side, of, from, to)
      history += s"probe $side $of $from to $to: ${shown.length} rows"
      assert(shown == expected.map(_.row).sorted)
      for (row <- expected) {
        if (what(row.row) < 3) row.matched = true
        if (what(row.row) == 0 || what(row.row) == 5) model.remove(side, row)
      }
    }

    private def evict(): Unit = {
      IdleSegmentsSuite.expire(tested, model, watermarks, random)
      history += s"evicted to ${watermarks.mkString(", ")}"
    }

    def commit(): Unit = {
      tested.number()
      written += bytes(tested.writeChange)
      tested.seal()
      model.commit()
      committed = watermarks.clone()
      val before = tested.spilled
      if (!oneOf(3)) tested.shrink()
      if (tested.spilled > before) searched += 1
      history += s"version ${written.length}, ${tested.spilled} bytes on the disk"
    }

    private def rollback(): Unit = {
      history += "rolled back"
      tested.rollback()
      undone()
      if (oneOf(2)) tested.shrink()
    }

    private def undone(): Unit = {
      model.rollback()
      committed.copyToArray(watermarks)
    }

    private def merge(): Unit = if (written.length > 1) {
      val from = if (oneOf(2)) 0 else random.nextInt(written.length)
      val some = written.slice(from, from + 1 + random.nextInt(8))
      val one = bytes(History.merge(_, whole = from == 0)(readingBack(some)))
      written.patchInPlace(from, Seq(one), some.length)
      merged += 1
    }

    def readBack(): Unit = if (written.nonEmpty) {
      history += "restored"
      tested.close()
      tested = empty()
      tested.restore(readingBack(written))
      undone()
      read += 1
    }

    def check(): Unit = for (side <- Side.both) {
      val rows = model.rows(side)
      assert(tested.size(side) == rows.length, s"$side")
      for (k <- 0 until limits)
        assert(tested.least(side, k) == least(rows.map(_.limits(k))), s"$side, limit $k")
      assert(tested.least(side, limits) == least(rows.map(_.row.length.toLong)), s"$side")
      if (oneOf(12)) showAll(side)
    }

    def showAll(): Unit = Side.both.foreach(showAll)

    private def showAll(side: Side): Unit = {
      val shown = mutable.ListBuffer.empty[(String, Boolean)]
      tested.foreach(side)(row => shown += row.row -> row.matched)
      assert(shown.toList.sorted == model.rows(side).map(r => (r.row, r.matched)).toList.sorted)
    }

    def close(): Unit = tested.close()
  }
}
