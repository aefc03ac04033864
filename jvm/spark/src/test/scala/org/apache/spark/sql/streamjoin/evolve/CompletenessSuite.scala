package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.checkpoint._
import org.apache.spark.sql.types.TimestampType
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.placement.Routing

class CompletenessSuite extends AnyFunSuite {

  private val (o, d) = (StoredTime("left.t", TimestampType), StoredTime("right.t", TimestampType))
  private val (ou, du) = (StoredTime("left.u", TimestampType), StoredTime("right.u", TimestampType))

  /** `d.t BETWEEN o.t - before AND o.t + after` */
  private def join(before: Long, after: Long): JoinDescription =
    join(o, StoredBound(d.name, o.name, before), StoredBound(o.name, d.name, after))

  /** @param left the time of the left input */
  private def join(left: StoredTime, bounds: String*): JoinDescription = JoinDescription(
    "segments",
    JoinType.Inner,
    Routing.ByKey,
    Nil,
    DescribedTimes(
      Nil,
      bounds,
      BySide(left, d),
      BySide(Seq(d), Seq(left)),
      Seq(left -> "o.t", d -> "d.t", du -> "d.u")
    ),
    None,
    DescribedKind.EventTime
  )

  private val straight = BySide[Side](Side.Left, Side.Right)

  private def complete(
      old: JoinDescription,
      now: JoinDescription,
      from: BySide[Side] = straight,
      known: Map[Int, Long] = Map.empty,
      watermarks: BySide[Seq[Long]] = BySide(Seq(1200L), Seq(1100L)),
      evicting: Option[Long] = None
  ): Seq[(StoredTime, Long)] =
    Completeness.of(
      old,
      from,
      known,
      watermarks,
      now,
      BySide.of(s => evicting.fold(watermarks(from(s)))(Seq(_))),
      identity
    )

  test("a wider bound is complete when the watermark has passed the difference") {
    assert(complete(join(0, 60), join(0, 180)) == Seq(d -> 1320L))
    assert(complete(join(0, 60), join(30, 180)) == Seq(o -> 1130L, d -> 1320L))
    // the watermark that evicts the rows of the changed join has passed it already
    assert(complete(join(0, 60), join(0, 180), evicting = Some(1400L)) == Nil)
  }

  test("the same and a narrower bound are complete at once") {
    assert(complete(join(0, 60), join(0, 60)) == Nil)
    assert(complete(join(10, 60), join(0, 30)) == Nil)
    // an as-of join does not say which watermarks evict its rows
    assert(complete(join(0, 60), join(0, 60), evicting = Some(Watermarks.Unknown)) == Nil)
  }

  test("a side of which no row has been evicted is complete at once") {
    val none = BySide.of(_ => Seq(Watermarks.Unknown))
    assert(complete(join(0, 60), join(0, 180), watermarks = none) == Nil)
  }

  test("no watermark tells when rows of another bound are complete") {
    val now = join(ou, StoredBound(d.name, ou.name, 0), StoredBound(ou.name, d.name, 60))
    assert(complete(join(0, 60), now) == Seq(d -> Long.MaxValue))
  }

  test("a wider bound between two times of one input changes nothing") {
    def and(slack: Long) = join(
      o,
      StoredBound(d.name, o.name, 0),
      StoredBound(o.name, d.name, 60),
      StoredBound(du.name, d.name, slack)
    )
    assert(complete(and(10), and(50)) == Nil)
  }

  test("what an earlier change lacks is lacking still") {
    val known = Map(1 -> 1320L)
    assert(complete(join(0, 180), join(0, 180), known = known) == Seq(d -> 1320L))
    assert(complete(join(0, 180), join(0, 181), known = known) == Seq(d -> 1320L))
    assert(complete(join(0, 180), join(0, 400), known = known) == Seq(d -> 1420L))
    val exchanged = BySide[Side](Side.Right, Side.Left)
    assert(complete(join(0, 180), join(180, 0), exchanged, known) == Seq(o -> 1320L))
  }

  test("exchanged inputs have their bounds on the other sides") {
    // o is now the right input
    assert(complete(join(0, 60), join(180, 0), BySide(Side.Right, Side.Left)) == Seq(o -> 1320L))
  }
}
