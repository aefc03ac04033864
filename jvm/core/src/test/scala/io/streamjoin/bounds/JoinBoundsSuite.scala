package io.streamjoin.bounds

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.bounds.JoinBounds.Unbounded
import io.streamjoin.model.JoinType._
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.testing.TestJoin
import io.streamjoin.testing.TestJoin.Col

class JoinBoundsSuite extends AnyFunSuite {

  /** `d.time BETWEEN o.time - 1 AND o.time + 3` */
  private object ordersAndDeliveries extends TestJoin {
    val o = left("o")
    val d = right("d")
    on(d.between(o - 1, o + 3))
  }

  /** The join above `ordersAndDeliveries`, with a third input. */
  private class Returns(deliveriesNullable: Boolean = false) extends TestJoin {
    val o = left("o")
    val d = left("d", nullable = deliveriesNullable)
    val r = right("r")
    known(d >= o - 1, o >= d - 3)
  }

  private def slack(join: TestJoin)(later: Col, earlier: Col): Long =
    join.bounds.slack(later.index, earlier.index)

  private def bound(join: TestJoin)(column: Col, received: Long*): Long =
    join.bounds.bound(column.index, received.toArray)

  private def outputWatermark(join: TestJoin)(column: Col, received: Long*): Long =
    join.bounds.outputWatermark(column.index, received.toArray)

  test("a conjunct bounds one column by the other in one direction only") {
    object oneWay extends TestJoin {
      val a = left("a")
      val b = right("b")
      on(a >= b - 4)
    }
    import oneWay.{a, b, bounds}
    assert(slack(oneWay)(a, b) == 4)
    assert(slack(oneWay)(b, a) == Unbounded)
    // the watermark of b evicts rows of a; no watermark evicts rows of b
    assert(bounds.limiting(Left) == Seq(b.index))
    assert(bounds.limiting(Right) == Nil)
    assert(bounds.bounded(Left) && !bounds.bounded(Right))
  }

  test("the lowest constant wins among several bounds of one pair of columns") {
    object several extends TestJoin {
      val a = left("a")
      val b = right("b")
      on(a >= b - 4, a >= b - 2, a >= b - 7)
    }
    import several.{a, b}
    assert(slack(several)(a, b) == 2)
  }

  test("a negative slack raises the bound above the watermark of the other column") {
    // b BETWEEN a + 7 AND a + 10
    object later extends TestJoin {
      val a = left("a")
      val b = right("b")
      on(b.between(a + 7, a + 10))
    }
    import later.{a, b, bounds}
    assert(slack(later)(b, a) == -7)
    assert(slack(later)(a, b) == 10)
    assert(!bounds.contradictory)
    // 100 + 7 = 107: a lower b matches no future a
    assert(bound(later)(b, 100, Unknown) == 107)
    // 100 - 10 = 90
    assert(bound(later)(a, Unknown, 100) == 90)
    // b: min(100, 107) = 100, the output watermark never exceeds the received one
    assert(outputWatermark(later)(b, 100, 100) == 100)
  }

  test("bounds add up along a path: d >= o - 1 and r >= d - 1 give r >= o - 2") {
    object join2 extends Returns {
      on(r.between(d - 1, d + 4))
    }
    import join2.{bounds, d, o, r}
    assert(slack(join2)(r, o) == 2)
    // o >= d - 3 >= r - 7
    assert(slack(join2)(o, r) == 7)
    assert(slack(join2)(d, o) == 1)
    assert(bounds.limiting(Right) == Seq(o.index, d.index))
    assert(bounds.limiting(Left) == Seq(r.index))
  }

  test("a path of bounds can be tighter than the direct conjunct") {
    object detour extends TestJoin {
      val a = left("a")
      val x = left("x")
      val b = right("b")
      on(a >= b - 100, a >= x - 1, x >= b - 1)
    }
    import detour.{a, b}
    // a >= x - 1 >= b - 2
    assert(slack(detour)(a, b) == 2)
  }

  test("the bound of a column is the highest that a column of the other side implies") {
    object join2 extends Returns {
      on(r.between(d - 1, d + 4))
    }
    import join2.r
    // from d: 102 - 1 = 101    from o: 103 - 2 = 101
    assert(bound(join2)(r, 103, 102, Unknown) == 101)
    // o ahead: 105 - 2 = 103
    assert(bound(join2)(r, 105, 102, Unknown) == 103)
    // d ahead: 110 - 1 = 109
    assert(bound(join2)(r, 105, 110, Unknown) == 109)
    assert(bound(join2)(r, 105, Unknown, Unknown) == 103)
    assert(bound(join2)(r, Unknown, Unknown, 110) == Unknown)
  }

  test("a column without a watermark or without a bound evicts no rows") {
    object perRow extends TestJoin {
      val time = left("auction.time")
      val expires = left("auction.expires", watermarked = false)
      val other = left("auction.other")
      val bid = right("bid.time")
      on(bid.between(time, expires + 0))
    }
    import perRow.{bid, bounds, time}
    assert(bounds.limiting(Right) == Seq(time.index))
    assert(bounds.limiting(Left) == Seq(bid.index))
    assert(bounds.bounded(Left) && bounds.bounded(Right))
    // bid >= time and expires >= bid: a filter on the auctions
    assert(bounds.slack(1, 0) == 0)
  }

  test("facts are not chained through a nullable column") {
    object chained extends TestJoin {
      val a = left("a")
      val n = left("n", nullable = true)
      val m = left("m")
      val r = right("r")
      known(m >= n - 1, n >= a - 1)
      on(r.between(m, m + 5))
    }
    import chained.{a, m, n, r}
    assert(slack(chained)(m, n) == 1)
    assert(slack(chained)(n, a) == 1)
    assert(slack(chained)(m, a) == Unbounded)
    // r >= m >= n - 1 holds if n is not NULL
    assert(slack(chained)(r, n) == 1)
    assert(slack(chained)(r, a) == Unbounded)
  }

  test("the watermark of a nullable column evicts nothing, since NULL is never late") {
    object join2 extends Returns(deliveriesNullable = true) {
      on(r.between(o - 1, o + 4))
    }
    import join2.{bounds, d, o, r}
    // r >= o - 1 >= d - 4, but a padded row has no d
    assert(slack(join2)(r, d) == 4)
    assert(bounds.limiting(Right) == Seq(o.index))
    assert(bound(join2)(r, 50, 100, Unknown) == 49)
  }

  test("a nullable column evicts rows if the condition bounds it") {
    object join2 extends Returns(deliveriesNullable = true) {
      on(r.between(d - 1, d + 4))
    }
    import join2.{bounds, d, o, r}
    // a row without d matches nothing
    assert(bounds.limiting(Right) == Seq(o.index, d.index))
    assert(slack(join2)(r, o) == 2)
  }

  test("the closure finds contradictory bounds, also over a path") {
    class Contradiction(low: Long, high: Long) extends TestJoin {
      val a = left("a")
      val b = right("b")
      on(b >= a + low, b <= a + high)
    }
    assert(new Contradiction(3, 2).bounds.contradictory)
    assert(!new Contradiction(2, 2).bounds.contradictory)
    // rows are never buffered, so the output has the watermarks of the input
    object never extends Contradiction(3, 2)
    assert(outputWatermark(never)(never.a, 100, Unknown) == 100)
    assert(outputWatermark(never)(never.b, 100, 90) == 90)
    assert(never.bounds.watermarkedInOutput(never.a.index))
    object path extends TestJoin {
      val a = left("a")
      val x = left("x")
      val b = right("b")
      on(b >= a + 1, x >= b + 1, a >= x - 1)
    }
    // b >= a + 1 >= x >= b + 1
    assert(path.bounds.contradictory)
  }

  test("a contradiction within one input makes the join contradictory and needs no state") {
    object alone extends TestJoin {
      val a = left("a")
      val x = left("x")
      val b = right("b")
      on(a >= x + 1, x >= a)
    }
    import alone.bounds
    assert(bounds.contradictory)
    assert(bounds.bounded(Left) && bounds.bounded(Right))
    assert(bounds.probeColumn(Right) == 2)
  }

  test("contradictory facts alone do not make the join contradictory") {
    // facts of an outer join whose condition is never true
    object vacuous extends TestJoin {
      val a = left("a")
      val n = left("n", nullable = true)
      val b = right("b")
      known(a >= n + 2, n >= a - 1)
      on(b.between(a - 1, a + 1))
    }
    assert(!vacuous.bounds.contradictory)
  }

  test("an overflowing bound becomes unbounded or saturates, and never gets tighter") {
    val near = Long.MaxValue - 1
    object far extends TestJoin {
      val a = left("a")
      val x = left("x")
      val b = right("b")
      on(a >= x - near, x >= b - near, b >= a)
    }
    import far.{a, b, x}
    // a >= x - near >= b - 2 near: out of range
    assert(slack(far)(a, b) == Unbounded)
    assert(slack(far)(x, b) == near)
    // -10 - near is out of range: no bound
    assert(bound(far)(x, Unknown, Unknown, -10) == Unknown)
    // 10 - near is not
    assert(bound(far)(x, Unknown, Unknown, 10) == 10 - near)
    object ahead extends TestJoin {
      val a = left("a")
      val b = right("b")
      on(a >= b + near)
    }
    // 10 + near overflows, so the bound is the largest time
    assert(bound(ahead)(ahead.a, Unknown, 10) == Long.MaxValue)
  }

  test("the output watermark is the lower of the received watermark and the bound") {
    import ordersAndDeliveries.{d, o}
    // o >= d - 3, d >= o - 1
    assert(outputWatermark(ordersAndDeliveries)(o, 103, 106) == 103)
    assert(outputWatermark(ordersAndDeliveries)(o, 103, 105) == 102)
    assert(outputWatermark(ordersAndDeliveries)(d, 103, 106) == 102)
    assert(outputWatermark(ordersAndDeliveries)(d, 103, 101) == 101)
    assert(outputWatermark(ordersAndDeliveries)(o, 103, Unknown) == Unknown)
    assert(outputWatermark(ordersAndDeliveries)(d, 103, Unknown) == Unknown)
  }

  test("a probe uses the column with the narrowest range") {
    object wide extends TestJoin {
      val free = left("free")
      val a = left("a")
      val x = left("x")
      val b = right("b")
      val y = right("y")
      on(b.between(a - 50, a + 50), y.between(x - 1, x + 1))
    }
    import wide.{bounds, x, y}
    assert(bounds.probeColumn(Left) == x.index)
    assert(bounds.probeColumn(Right) == y.index)
    object equallyWide extends TestJoin {
      val plain = left("plain", watermarked = false)
      val marked = left("marked")
      val b = right("b")
      on(b.between(plain - 1, plain + 1), b.between(marked - 1, marked + 1))
    }
    // the watermarked one of two equally narrow columns
    assert(equallyWide.bounds.probeColumn(Left) == equallyWide.marked.index)
  }

  test("a range that is open at one end has no width, also if the other end is negative") {
    object oneWay extends TestJoin {
      val a = left("a")
      val b = right("b")
      on(a >= b + 4)
    }
    assert(Seq(Left, Right).map(oneWay.bounds.probeWidth) == Seq(Unbounded, Unbounded))
  }

  test("a bound in either direction relates two columns") {
    object oneWay extends TestJoin {
      val a = left("a")
      val b = right("b")
      val other = right("other")
      on(a >= b - 4)
    }
    import oneWay.{a, b, bounds, other}
    assert(bounds.areRelated(a.index, b.index) && bounds.areRelated(b.index, a.index))
    assert(!bounds.areRelated(a.index, other.index))
  }

  test("the output facts of inner and outer joins are the bounds of the condition") {
    val expected = Set(TimeBound(1, 0, 1), TimeBound(0, 1, 3))
    assert(ordersAndDeliveries.bounds.outputFacts(Inner).toSet == expected)
    // facts cover only rows with both columns, so outer joins have the same facts
    for (joinType <- Seq(LeftOuter, RightOuter, FullOuter))
      assert(ordersAndDeliveries.bounds.outputFacts(joinType).toSet == expected)
    for (joinType <- Seq(LeftSemi, LeftAnti))
      assert(ordersAndDeliveries.bounds.outputFacts(joinType).isEmpty)
  }

  test("within a preserved side, only the input facts remain output facts") {
    // b between x and a proves a >= x for matched rows
    object between extends TestJoin {
      val a = left("a")
      val x = left("x")
      val b = right("b")
      known(a >= x - 10)
      on(b.between(x, a + 0))
    }
    import between.{a, bounds, x}
    def within(facts: Seq[TimeBound]) =
      facts.filter(f => f.later == a.index && f.earlier == x.index).map(_.slack)
    for (joinType <- Seq(Inner, RightOuter, LeftSemi))
      assert(within(bounds.outputFacts(joinType)) == Seq(0))
    for (joinType <- Seq(LeftOuter, FullOuter, LeftAnti))
      assert(within(bounds.outputFacts(joinType)) == Seq(10))
  }

  test("columns of the side that an outer join pads are nullable in the output") {
    import ordersAndDeliveries.{bounds, d, o}
    def nullable(column: Col) =
      io.streamjoin.model.JoinType.all.filter(bounds.nullableInOutput(column.index, _))
    assert(nullable(o) == Seq(RightOuter, FullOuter))
    assert(nullable(d).filterNot(_.leftOnly) == Seq(LeftOuter, FullOuter))
  }

  test("a bounded column is not nullable in the output unless its side is preserved") {
    object nulls extends TestJoin {
      val a = left("a", nullable = true)
      val free = left("free", nullable = true)
      val b = right("b")
      on(a === b)
    }
    import nulls.{a, bounds, free}
    val all = io.streamjoin.model.JoinType.all
    assert(all.filterNot(bounds.nullableInOutput(a.index, _)) == Seq(Inner, LeftSemi))
    assert(all.forall(bounds.nullableInOutput(free.index, _)))
  }
}
