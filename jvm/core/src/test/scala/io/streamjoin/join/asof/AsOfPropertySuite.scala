package io.streamjoin.join.asof

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.state.JoinState
import io.streamjoin.state.segment.SegmentJoinState
import io.streamjoin.testing.{Emitted, HeapJoinState, RandomCases, TestRow, TestRowCodec}

/** Compares random streams in random batches with the last rows of the sorted table. */
class AsOfPropertySuite extends AnyFunSuite {

  private def inSegments: JoinState[TestRow] = {
    val codecs = BySide.of(_ => new TestRowCodec)
    new SegmentJoinState[TestRow](_ => 1, _ => 1L, codecs)
  }

  private def random(seed: Random): AsOfBounds = AsOfBounds(
    if (seed.nextInt(4) == 0) Side.Right else Side.Left,
    1 + seed.nextInt(3),
    if (seed.nextBoolean()) 0L else seed.nextInt(7).toLong - 3,
    Option.when(seed.nextBoolean())(seed.nextInt(15).toLong)
  )

  private def joinType(seed: Random, probe: Side): JoinType = {
    val fitting =
      if (probe == Side.Right) Seq(JoinType.Inner, JoinType.RightOuter)
      else Seq(JoinType.Inner, JoinType.LeftOuter, JoinType.LeftSemi, JoinType.LeftAnti)
    fitting(seed.nextInt(fitting.length))
  }

  private def row(seed: Random, now: Int, name: String): TestRow = {
    val side = if (seed.nextBoolean()) Side.Left else Side.Right
    val times =
      if (seed.nextInt(30) == 0) Map.empty[Int, Long]
      else Map(0 -> (now + seed.nextInt(21).toLong - 10))
    TestRow(
      side,
      times,
      Option.when(seed.nextInt(20) > 0)(seed.nextInt(5).toLong),
      joinable = seed.nextInt(20) > 0,
      name = name
    )
  }

  test("each batch emits all due rows as in the sorted table, and buffers only needed rows") {
    RandomCases.forAll(2000) { seed =>
      val bounds = random(seed)
      val state = if (seed.nextBoolean()) inSegments else new HeapJoinState[TestRow](identity)
      val even = seed.nextInt(3) == 0
      val deletes = seed.nextInt(3)
      val driver = new AsOfDriver(
        joinType(seed, bounds.probe),
        bounds,
        state,
        (a, b) => !even || (a.name.length + b.name.length) % 2 == 0,
        ends = row => row.name.last - '0' < deletes * 2
      )
      var (out, came) = (Seq.empty[Emitted], Seq.empty[TestRow])
      var before, largest: Side => Long = BySide.of(_ => Watermarks.Unknown)
      val lag = BySide.of(_ => seed.nextInt(12).toLong)
      val batches = 1 + seed.nextInt(12)
      for (i <- 0 to batches) {
        val rows = Seq.fill(seed.nextInt(12))(row(seed, i * 6, s"$i-${seed.nextInt(1000)}"))
        def timeOf(r: TestRow) = r.times.headOption.map(_._2)
        val seen = BySide.of { side =>
          (rows.filter(_.side == side).flatMap(timeOf) :+ largest(side)).max
        }
        largest = seen
        val watermarks = BySide.of { side =>
          if (i == batches) 10000L
          else if (seen(side) == Watermarks.Unknown) Watermarks.Unknown
          else seen(side) - lag(side)
        }
        val received = before
        came ++= rows.filter(r => timeOf(r).forall(_ >= received(r.side)))
        before = watermarks
        out ++= driver.batch(rows, watermarks)

        val limit = driver.limit
        val builds = came.filter(_.side == bounds.build)
        def settled(r: TestRow) =
          !r.joinable || r.key.isEmpty || timeOf(r).forall(t => bounds.due(r.side, t) < limit)
        val due = came.filter(r => r.side == bounds.probe && settled(r))
        assert(
          sorted(out) == sorted(due.flatMap(driver.expected(_, builds))),
          s"in batch $i of $bounds"
        )
        def buffered(side: Side) = came.filter(r => r.side == side && !settled(r))
        assert(state.size(bounds.probe) == buffered(bounds.probe).size)
        val last = builds
          .filter(r => settled(r) && r.joinable && r.key.nonEmpty && r.times.nonEmpty)
          .groupBy(_.key).values
          .map(driver.valid(_).count(r => timeOf(r).exists(bounds.expiry(_) >= limit)))
          .sum
        assert(state.size(bounds.build) == buffered(bounds.build).size + last)
      }
    }
  }

  private def sorted(emitted: Seq[Emitted]): Seq[String] = emitted.map(_.toString).sorted
}
