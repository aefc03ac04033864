package io.streamjoin.watermark

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.bounds.{TimeBound, TimeColumn}
import io.streamjoin.join.Count
import io.streamjoin.join.eventtime.EarliestTimes
import io.streamjoin.model.{JoinType, Side, Watermarks}
import io.streamjoin.testing.Checked.{rows, timesOf, watermarks}
import io.streamjoin.testing.RandomCases.onFailure
import io.streamjoin.testing.{
  BatchDriver,
  Checked,
  Emitted,
  FoundLate,
  Given,
  Joined,
  Late,
  Matched,
  RandomCases,
  RandomJoin,
  Reference,
  TestJoin,
  TestRow,
  Unmatched,
  Wm
}

/** Two joins, of which the upper one reads the output, watermarks and facts of the lower one. */
class ChainPropertySuite extends AnyFunSuite {

  test("event by event: output of the lower join is never late at the upper join") {
    var throughBoth = 0
    RandomCases.forAll(200) { random =>
      val chain = Chain.random(random)
      val lower = new Checked(chain.lower, chain.lowerType)
      val upper = new Checked(chain.upper, chain.upperType)
      withClue(onFailure(s"${chain.lower}\n${chain.upper}\n")) {
        for (event <- chain.events(random)) event match {
          case Chain.Lower(given) =>
            val out = lower.send(given)
            rows(out).foreach(row => upper.send(chain.lift(row)))
            for (wm <- watermarks(out)) {
              assert(chain.plan(wm.column).eval(lower.driver.received) == wm.value)
              if (chain.carried.contains(wm.column)) upper.send(wm)
            }
          case Chain.Upper(given) => upper.send(given)
        }
        lower.assertComplete()
        upper.assertComplete()
        assert(upper.driver.counters.rows(Side.Left, Count.Late) == 0)
        throughBoth += upper.outputRows
      }
    }
    if (RandomCases.all) assert(throughBoth > 200)
  }

  test("batch by batch: output of the lower join is never late at the upper join") {
    RandomCases.forAll(500) { random =>
      val chain = Chain.random(random)
      val lower = new BatchDriver(chain.lower, chain.lowerType)
      val upper = new BatchDriver(chain.upper, chain.upperType)
      val (lowerTruth, upperTruth) =
        (new Reference(chain.lower, chain.lowerType), new Reference(chain.upper, chain.upperType))
      var (lowerOut, upperOut) = (Seq.empty[Emitted], Seq.empty[Emitted])
      withClue(onFailure(s"${chain.lower}\n${chain.upper}\n")) {
        val base = Array.fill(chain.baseColumns)(Watermarks.Unknown)
        for (batch <- chain.batches(random)) {
          val below = batch.collect { case Chain.Lower(r: TestRow) => r }
          val beside = batch.collect { case Chain.Upper(r: TestRow) => r }
          chain.advance(base, batch)
          val out = lower.batch(Side.both(random.nextInt(2)), below, chain.lowerMarks(base))
          lowerOut ++= out
          val lifted = out.map(chain.lift)
          below.foreach(lowerTruth.see)
          chain.marks(chain.lowerMarks(base)).foreach(lowerTruth.see)
          upperOut ++= upper.batch(
            Side.both(random.nextInt(2)),
            random.shuffle(lifted ++ beside),
            chain.upperMarks(base)
          )
          (lifted ++ beside).foreach(upperTruth.see)
          chain.marks(chain.upperMarks(base)).foreach(upperTruth.see)
          assert(upper.counters.rows(Side.Left, Count.Late) == 0)
        }
        Checked.assertSame("out of the lower join", lowerOut, lowerTruth.finalOutput)
        Checked.assertSame("out of the upper join", upperOut, upperTruth.finalOutput)
      }
    }
  }

  test("the earliest future output time of a join is exact, given its buffered rows") {
    var tighter = 0
    RandomCases.forAll(500) { random =>
      val join = RandomJoin.admissible(random, maxColumns = 1)
      val joinType = JoinType.all(random.nextInt(JoinType.all.length))
      val driver = new BatchDriver(join, joinType)
      val truth = new Reference(join, joinType)
      val marks = join.columns.indices.map(WatermarkPlan.Base(_))
      val base = Array.fill(join.columns.length)(Watermarks.Unknown)
      withClue(onFailure(s"$join, $joinType\n")) {
        for (batch <- (join.events(40).grouped(1 + random.nextInt(8)).toSeq :+ join.end)) {
          val rows = batch.collect { case row: TestRow => row }
          for (Wm(c, value) <- batch) base(c) = math.max(base(c), value)
          driver.batch(Side.both(random.nextInt(2)), rows, base)
          rows.foreach(truth.see)
          for (c <- base.indices if base(c) != Watermarks.Unknown) truth.see(Wm(c, base(c)))
          if (random.nextInt(4) == 0) driver.restart()
          val buffered = driver.buffered
          for {
            c <- join.columns.indices
            if join.bounds.watermarkedInOutput(c) && !join.bounds.contradictory
          } {
            val plan = WatermarkPlan.Joined(JoinWatermarks(Set.empty, join.bounds, marks), c)
            val found = WatermarkPlan.remaining(plan, _ => Some(buffered)).eval(base)
            val expected = Remaining.earliest(join, joinType, c, base, truth)
            // at the end of the grid there is no limit
            if (found == Watermarks.Unknown) assert(expected < Reference.grid.head + 10)
            else assert(found == expected, s"column $c")
            if (found > plan.eval(base)) tighter += 1
          }
        }
      }
    }
    if (RandomCases.all) assert(tighter > 500)
  }

  test("the earliest future output time of a chain is a sound and tight limit") {
    var (tighter, apart, past, pastJoined) = (0, 0, 0, 0)
    RandomCases.forAll(500) { random =>
      val chain = Chain.random(random)
      val lower = new BatchDriver(chain.lower, chain.lowerType)
      val upper = new BatchDriver(chain.upper, chain.upperType)
      val (lowerTruth, upperTruth) =
        (new Reference(chain.lower, chain.lowerType), new Reference(chain.upper, chain.upperType))
      withClue(onFailure(s"${chain.lower}\n${chain.upper}\n")) {
        val base = Array.fill(chain.baseColumns)(Watermarks.Unknown)
        var remaining = Map.empty[Int, Long]
        for (batch <- chain.batches(random)) {
          val below = batch.collect { case Chain.Lower(r: TestRow) => r }
          val beside = batch.collect { case Chain.Upper(r: TestRow) => r }
          chain.advance(base, batch)
          if (random.nextInt(4) == 0) {
            lower.failedBatch(Side.Left, random.shuffle(below).drop(1), chain.lowerMarks(base))
          }
          val lifted =
            lower.batch(Side.both(random.nextInt(2)), below, chain.lowerMarks(base)).map(chain.lift)
          val out = upper.batch(
            Side.both(random.nextInt(2)),
            random.shuffle(lifted ++ beside),
            chain.upperMarks(base)
          )
          for ((c, limit) <- remaining; row <- out; t <- timesOf(row).get(c))
            assert(t >= limit, s"$row is below what remains of column $c")
          below.foreach(lowerTruth.see)
          chain.marks(chain.lowerMarks(base)).foreach(lowerTruth.see)
          (lifted ++ beside).foreach(upperTruth.see)
          chain.marks(chain.upperMarks(base)).foreach(upperTruth.see)
          if (random.nextInt(4) == 0) Seq(lower, upper).foreach(_.restart())
          remaining = chain.emitted.map { c =>
            val below =
              if (!chain.carried.contains(c)) Nil
              else lowerTruth.buffer(chain.lower.columns(c).side).flatMap(_.times.get(c))
            val rows = upperTruth.buffer(chain.upper.columns(c).side)
            val buffered = rows.flatMap(_.times.get(c))
            val alone = rows.filterNot(upperTruth.isJoined).flatMap(_.times.get(c))
            def least(buffered: Seq[Long]) = (chain.sourceMark(base, c) +: (below ++ buffered)).min
            val expected = least(buffered)
            val found = chain.remaining(c, lower.buffered, upper.buffered).eval(base)
            // the limit can exclude a buffered row that needs a partner or has had one
            assert(found >= expected, s"column $c")
            if (chain.preserves(c)) {
              assert(found <= least(alone), s"column $c")
              if (chain.carried.contains(c)) assert(found == expected, s"column $c")
              if (found > expected) pastJoined += 1
            }
            if (found > chain.upperOutput(c).eval(base)) tighter += 1
            if (buffered.exists(_ < found)) past += 1
            if (
              chain.carried.contains(c) && new EarliestTimes(
                chain.upper.bounds,
                Side.Left
              ).isWatched(c)
            ) apart += 1
            c -> found
          }.toMap
        }
      }
    }
    if (RandomCases.all) {
      assert(tighter > 200)
      assert(apart > 200)
      // buffered rows that match nothing the lower join will still emit
      assert(past > 200)
      assert(pastJoined > 3)
    }
  }
}

/**
 * Two joins, the left input of the upper one being the output of the lower one. The columns that
 * the lower one emits have the same numbers in both.
 */
private final class Chain(
    val lower: RandomJoin,
    val lowerType: JoinType,
    val upper: Chain.UpperJoin,
    val upperType: JoinType
) {

  /** The output columns of the lower join. */
  val carried: Range = 0 until upper.bounds.indices(Side.Left).length

  private val beside = upper.bounds.indices(Side.Right)

  /** One base watermark for each column of the lower join, and for each of the third input. */
  val baseColumns: Int = lower.columns.length + beside.length

  private val below =
    JoinWatermarks(Set(1L), lower.bounds, lower.columns.indices.map(WatermarkPlan.Base(_)))

  private val above = JoinWatermarks(
    Set(2L),
    upper.bounds,
    carried.map(plan) ++ beside.map(c => WatermarkPlan.Base(baseOf(c)))
  )

  def plan(column: Int): WatermarkPlan = WatermarkPlan.Joined(below, column)

  def upperOutput(column: Int): WatermarkPlan = WatermarkPlan.Joined(above, column)

  /** The earliest time that the upper join can still emit. */
  def remaining(
      column: Int,
      below: WatermarkPlan.Buffered,
      above: WatermarkPlan.Buffered
  ): WatermarkPlan = WatermarkPlan.remaining(
    upperOutput(column),
    id => Some(if (id == Set(1L)) below else above)
  )

  /** Whether both joins emit a row without a partner. */
  def preserves(column: Int): Boolean =
    upperType.preserves(upper.columns(column).side) &&
      (!carried.contains(column) || lowerType.preserves(lower.columns(column).side))

  /** The output columns of both joins that have a watermark. */
  def emitted: Seq[Int] = upper.columns.indices.filter { c =>
    upper.bounds.watermarkedInOutput(c) && upperType.emits(upper.columns(c).side)
  }

  /** The watermark with which a column of the upper join begins. */
  def sourceMark(base: Array[Long], column: Int): Long =
    if (carried.contains(column)) lowerMarks(base)(column) else base(baseOf(column))

  private def baseOf(column: Int): Int = lower.columns.length + column - carried.length

  def lowerMarks(base: Array[Long]): Array[Long] = below.received(base)

  def upperMarks(base: Array[Long]): Array[Long] = above.received(base)

  def marks(received: Array[Long]): Seq[Wm] =
    received.indices.filter(received(_) != Watermarks.Unknown).map(c => Wm(c, received(c)))

  def advance(base: Array[Long], batch: Seq[Chain.Event]): Unit = batch.foreach {
    case Chain.Lower(Wm(c, value)) => base(c) = math.max(base(c), value)
    case Chain.Upper(Wm(c, value)) => base(baseOf(c)) = math.max(base(baseOf(c)), value)
    case _                         =>
  }

  /**
   * An output row of the lower join as an input row of the upper one. It must satisfy the facts.
   */
  def lift(out: Emitted): TestRow = {
    val times = timesOf(out).filter(t => carried.contains(t._1))
    for (c <- carried if !upper.columns(c).nullable)
      assert(times.contains(c), s"$out lacks column $c")
    for (f <- upper.facts if times.contains(f.later) && times.contains(f.earlier))
      assert(TestJoin.holds(f, times), s"$out does not obey $f")
    val key = out match {
      case Joined(l, _)                   => l.key
      case Unmatched(r)                   => r.key
      case Matched(l)                     => l.key
      case _: Late | _: FoundLate | _: Wm => None
    }
    TestRow(Side.Left, times, key, name = s"[$out]")
  }

  def events(random: Random): Seq[Chain.Event] = {
    def merge(a: List[Given], b: List[Given]): List[Chain.Event] =
      if (a.isEmpty) b.map(Chain.Upper)
      else if (b.isEmpty) a.map(Chain.Lower)
      else if (random.nextInt(a.length + b.length) < a.length)
        Chain.Lower(a.head) :: merge(a.tail, b)
      else Chain.Upper(b.head) :: merge(a, b.tail)
    merge(lower.events(20).toList, upper.thirdInput(12).toList) ++
      lower.end.map(Chain.Lower) ++ upper.thirdEnd.map(Chain.Upper)
  }

  def batches(random: Random): Seq[Seq[Chain.Event]] = {
    val (end, before) = events(random).partition {
      case Chain.Lower(Wm(_, value)) => value == Reference.endOfTime
      case Chain.Upper(Wm(_, value)) => value == Reference.endOfTime
      case _                         => false
    }
    before.grouped(1 + random.nextInt(10)).toSeq :+ end
  }
}

private object Remaining {

  /** The earliest time of a future output row, by trying all possible input rows. */
  def earliest(
      join: TestJoin,
      joinType: JoinType,
      column: Int,
      base: Array[Long],
      truth: Reference
  ): Long = {
    val side = join.columns(column).side
    def toCome(c: Int) = Reference.grid.iterator.map(_.toLong).filter(_ >= base(c))
    def pairs(times: Map[Int, Long]) = join.conjuncts.forall(TestJoin.holds(_, times))
    val other = join.bounds.indices(side.other).head
    val partners = truth.buffer(side.other).flatMap(_.times.get(other)) ++ toCome(other)
    val coming = toCome(column)
      .filter { t =>
        joinType.preserves(side) || partners.exists(p => pairs(Map(column -> t, other -> p)))
      }
    (coming.take(1) ++ truth.buffer(side).flatMap(_.times.get(column))).minOption
      .getOrElse(Long.MaxValue)
  }
}

private object Chain {

  sealed trait Event
  final case class Lower(event: Given) extends Event
  final case class Upper(event: Given) extends Event

  def random(random: Random): Chain = Iterator
    .continually {
      val lower = RandomJoin.admissible(random, maxColumns = 2)
      val lowerType = pick(random, JoinType.all)
      val upper = new UpperJoin(lower, lowerType, random)
      new Chain(lower, lowerType, upper, pick(random, JoinType.all))
    }
    .find(chain => Side.both.forall(chain.upper.bounds.bounded))
    .get

  private def pick[A](random: Random, of: Seq[A]): A = of(random.nextInt(of.length))

  /** A join of the output of `lower` with a third input of one column. */
  final class UpperJoin(lower: RandomJoin, lowerType: JoinType, random: Random) extends TestJoin {

    private val carried =
      if (lowerType.leftOnly) lower.bounds.indices(Side.Left) else lower.columns.indices

    for (c <- carried) {
      val nullable = lower.bounds.nullableInOutput(c, lowerType)
      column(TimeColumn(Side.Left, lower.columns(c).name, leaves(c), nullable))
    }
    private val third = right("third").index

    for (_ <- 0 to random.nextInt(2)) {
      on(Seq(TimeBound(pick(random, carried), third, random.nextInt(7) - 1L)))
      on(Seq(TimeBound(third, pick(random, carried), random.nextInt(7) - 1L)))
    }
    known(lower.bounds.outputFacts(lowerType))

    /** Whether the lower join ever emits a watermark of the column. */
    private def leaves(c: Int): Boolean = {
      val received = lower.columns.map { column =>
        if (column.watermarked) Reference.endOfTime.toLong else Watermarks.Unknown
      }
      lower.bounds.outputWatermark(c, received.toArray) != Watermarks.Unknown
    }

    def thirdInput(count: Int): Seq[Given] = (0 until count).map { i =>
      if (random.nextInt(3) == 0) Wm(third, i - random.nextInt(4).toLong)
      else
        TestRow(
          Side.Right,
          Map(third -> (i + random.nextInt(7) - 3L)),
          key = Some(random.nextInt(2).toLong),
          name = s"t$i"
        )
    }

    def thirdEnd: Seq[Wm] = Seq(Wm(third, Reference.endOfTime.toLong))

    override def toString: String =
      s"${columns.mkString(", ")} on ${conjuncts.mkString(", ")} known ${facts.mkString(", ")}"
  }
}
