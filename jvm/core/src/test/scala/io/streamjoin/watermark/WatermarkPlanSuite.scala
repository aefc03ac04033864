package io.streamjoin.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.{RandomCases, RandomJoin, TestJoin}
import io.streamjoin.watermark.WatermarkPlan._

class WatermarkPlanSuite extends AnyFunSuite {

  /** `orders o JOIN deliveries d ON d.time BETWEEN o.time - 1 AND o.time + 3` */
  private object join1 extends TestJoin {
    val o = left("o.time")
    val d = right("d.time")
    on(d.between(o - 1, o + 3))
  }

  /** `JOIN returns r ON r.time BETWEEN d.time - 1 AND d.time + 4`, above it */
  private object join2 extends TestJoin {
    val o = left("o.time")
    val d = left("d.time")
    val r = right("r.time")
    known(join1.bounds.outputFacts(JoinType.Inner))
    on(r.between(d - 1, d + 4))
  }

  private val below = JoinWatermarks(Set.empty, join1.bounds, Vector(Base(0), Base(1)))
  private val above =
    JoinWatermarks(Set.empty, join2.bounds, Vector(Joined(below, 0), Joined(below, 1), Base(2)))

  test("bounds that the lower join enforces are facts of the upper join") {
    // d >= o - 1, o >= d - 3
    assert(join2.facts.toSet == (join2.d >= join2.o - 1).toSet ++ (join2.o >= join2.d - 3))
  }

  test("the upper join emits a watermark of each of its three time columns") {
    val base = Array(103L, 106L, 110L)
    // o: min(103, 106 - 3) = 103    d: min(106, 103 - 1) = 102
    assert(above.received(base).toSeq == Seq(103, 102, 110))
    // o: min(103, 110 - 7) = 103    d: min(102, 110 - 4) = 102
    // r: min(110, the higher of 102 - 1 and 103 - 2) = 101
    assert(Seq(0, 1, 2).map(above.output(base, _)) == Seq(103, 102, 101))
  }

  test("a source column has its name at the lowest join that it reaches") {
    for (i <- 0 to 1) assert(above.nameOf(i).contains(below.bounds.columns(i).name))
    assert(above.nameOf(2).contains(above.bounds.columns(2).name))
    assert(below.nameOf(2).isEmpty && above.nameOf(3).isEmpty)
  }

  test(
    "a chain of sixty joins is evaluated once per join, also after a shift of its base columns"
  ) {
    // each join reads two columns of the join below: 2 ^ 60 evaluations without caching
    val chain = (2 to 61).foldLeft(below) { (join, source) =>
      JoinWatermarks(
        Set(source.toLong),
        join2.bounds,
        Vector(Joined(join, 0), Joined(join, 1), Base(source))
      )
    }
    val base = Array.fill(62)(1000L)
    assert(chain.output(base, 0) == 1000 - 7)
    assert(chain.shift(1).output(0L +: base, 0) == 1000 - 7)
    assert(chain.sources.flatten.toSet == (0 to 61).toSet)
    assert(chain.rivals(61) == (0 to 60).toSet)
    assert(chain.nameOf(62).isEmpty)
    assert(Seq(30L, 99L).map(id => chain.contains(Set(id))) == Seq(true, false))
    // if nothing is buffered, only future rows count
    val none = IndexedSeq.fill(3)(Long.MaxValue)
    val left = remaining(Joined(chain, 0), _ => Some(Buffered(none, none, Set.empty)))
    assert(left.eval(base) == 1000)
    assert(left.shift(1).eval(0L +: base) == 1000)
    // the watermark of a source rises, in the same array
    base(61) = 2000
    assert(chain.received(base).last == 2000)
  }

  test("a source without a watermark blocks only the watermarks that depend on it") {
    // no returns yet: rows of o and d can stay buffered for any time
    val noReturns = Array(103L, 106L, Unknown)
    assert(above.received(noReturns).toSeq == Seq(103, 102, Unknown))
    assert(Seq(0, 1, 2).map(above.output(noReturns, _)) == Seq(Unknown, Unknown, Unknown))
    // no deliveries yet: o has no watermark either, since each of its rows can still match one
    val noDeliveries = Array(103L, Unknown, 110L)
    assert(above.received(noDeliveries).toSeq == Seq(Unknown, Unknown, 110))
  }

  test("the rivals of a source are the other input's sources of the lowest join above it") {
    assert(below.rivals == Map(0 -> Set(1), 1 -> Set(0)))
    assert(above.rivals == Map(0 -> Set(1), 1 -> Set(0), 2 -> Set(0, 1)))
  }

  /**
   * `trades ASOF JOIN quotes`, which looks for quotes from five seconds before: base columns 0 and
   * 1.
   */
  private def asOf: WatermarkPlan =
    Shifted(AsOfLimit(Seq(Shifted(Base(0), -5), Base(1))), 5)

  /** The as-of join, or a union with it, joined with news: base columns 2 and 3. */
  private def aboveAsOf(traded: WatermarkPlan, news: Int) =
    JoinWatermarks(Set.empty, join1.bounds, Vector(traded, Base(news)))

  test(
    "R16: the rivals of an as-of join's source are its other side, also in joins above"
  ) {
    val ofAsOf = Map(0 -> Set(1), 1 -> Set(0))
    assert(rivals(asOf) == ofAsOf)
    assert(aboveAsOf(asOf, 2).rivals == ofAsOf ++ Map(2 -> Set(0, 1)))
    assert(aboveAsOf(Least(Seq(asOf, Base(2))), 3).rivals ==
      ofAsOf ++ Map(2 -> Set(3), 3 -> Set(0, 1, 2)))
    // in an as-of join above it, too
    assert(rivals(AsOfLimit(Seq(asOf, Base(2)))) == ofAsOf ++ Map(2 -> Set(0, 1)))
  }

  /** Seconds `o` of left rows, compared as `o * 1000` with milliseconds `d` of right rows. */
  private object units extends TestJoin {
    val o = left("o")
    val inMillis = multiple(o, 1000)
    val d = right("d")
    on(d.between(inMillis, inMillis + 60000))
  }

  private val inUnits =
    JoinWatermarks(Set.empty, units.bounds, Vector(Base(0), Multiple(Base(0), 1000), Base(1)))

  test("R16: a source has no rival in another unit, neither in its join nor in one above") {
    assert(inUnits.rivals == Map(0 -> Set.empty, 1 -> Set.empty))
    // joined with a time that is compared with only one of the two
    abstract class Above extends TestJoin {
      val o = left("o")
      val d = left("d")
      val r = right("r")
      def rivals: Set[Int] = {
        val inputs = Vector(Joined(inUnits, units.o.index), Joined(inUnits, units.d.index), Base(2))
        JoinWatermarks(Set.empty, bounds, inputs).rivals(r.index)
      }
    }
    assert((new Above { on(r.between(d - 1, d + 4)) }).rivals == Set(1))
    assert((new Above { on(r.between(o - 1, o + 4)) }).rivals == Set(0))
  }

  test("the limit of an as-of join is the limit of its slower side") {
    // 103 - 5 < 99
    assert(asOf.eval(Array(103L, 99L)) == 103)
    assert(asOf.eval(Array(110L, 99L)) == 104)
    assert(asOf.eval(Array(110L, Unknown)) == Unknown)
  }

  test("the limit of an as-of join does not depend on the rows that a join below buffers") {
    // the as-of join emits its rows by the watermarks that the join below promises
    val limit = AsOfLimit(Seq(Joined(below, 0), Base(2)))
    val none = IndexedSeq.fill(2)(Long.MaxValue)
    assert(remaining(limit, _ => Some(Buffered(none, none, Set.empty))) == limit)
  }

  test("the watermark of a union is the lowest one of its inputs") {
    assert(Least(Seq(Base(0), Base(1))).eval(Array(5L, 3L)) == 3)
    assert(Least(Seq(Base(0), Base(1))).eval(Array(5L, Unknown)) == Unknown)
    assert(Least(Seq(Base(0), Never)).eval(Array(5L)) == Unknown)
  }

  test("the watermark of a window end is above the watermark of its time") {
    // no time below 5 arrives any more, so no window that ends at 5
    assert(windowEnd(Base(0)).eval(Array(5L)) == 6)
    assert(windowEnd(Base(0)).eval(Array(Unknown)) == Unknown)
  }

  test("the watermark of a time in a smaller unit is multiplied and saturates") {
    assert(Multiple(Base(0), 1000).eval(Array(5L)) == 5000)
    assert(Multiple(Base(0), 1000).eval(Array(Long.MaxValue / 10)) == Long.MaxValue)
    assert(Multiple(Base(0), 1000).eval(Array(Unknown)) == Unknown)
  }

  test("a shifted plan reads its base columns at the shifted positions") {
    val base = Array(103L, 106L, 110L)
    val shifted = Array(-1L, -2L) ++ base
    for (
      plan <- Seq(
        Base(1),
        Least(Seq(Base(0), Base(2))),
        AsOfLimit(Seq(Base(0), Base(2))),
        windowEnd(Base(1)),
        Multiple(Base(1), 1000),
        Joined(above, 0),
        Joined(above, 2),
        Never
      )
    )
      assert(plan.shift(2).eval(shifted) == plan.eval(base), plan)
  }

  test("a plan never falls when base watermarks rise, and never exceeds its own base") {
    RandomCases.forAll(500) { random =>
      val join = RandomJoin.admissible(random, maxColumns = 2)
      val plans = join.columns.indices.map { c =>
        Joined(JoinWatermarks(Set.empty, join.bounds, join.columns.indices.map(Base(_))), c)
      }
      val base = Array.fill(join.columns.length)(Unknown)
      var before = plans.map(_.eval(base))
      for (_ <- 0 until 20) {
        val c = random.nextInt(base.length)
        if (join.columns(c).watermarked) base(c) = math.max(base(c), random.nextInt(30).toLong)
        val now = plans.map(_.eval(base))
        assert(now.zip(before).forall { case (a, b) => a >= b })
        for (side <- Side.both; i <- join.bounds.indices(side)) assert(now(i) <= base(i))
        before = now
      }
    }
  }
}
