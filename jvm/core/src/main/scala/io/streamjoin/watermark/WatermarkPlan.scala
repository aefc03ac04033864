package io.streamjoin.watermark

import java.util.{Arrays, Collections, IdentityHashMap}

import scala.collection.concurrent.TrieMap

import io.streamjoin.bounds.{JoinBounds, Saturated}
import io.streamjoin.model.{Side, Watermarks}

/**
 * Plan that computes the watermark of one time column from the watermarks of source columns
 * (base watermarks). Every task can evaluate it without asking another task.
 *
 * All forms are monotone in the base watermarks and depend on nothing else, in particular not
 * on buffered rows. So all partitions agree, and a restart cannot lower a watermark.
 *
 * Example, `d.time BETWEEN o.time AND o.time + 30 minutes`, with W(orders) = 12:20 and
 * W(deliveries) = 12:35:
 *
 * {{{
 *   Base(orders)       12:20
 *   Base(deliveries)   12:35
 *   Joined(o.time)     12:05 = min(12:20, 12:35 - 30 minutes): an order may still be joined
 *   Joined(d.time)     12:20 = min(12:35, 12:20): a delivery is not before its order
 * }}}
 *
 * Rules R10, R15, R18 and R19 of `docs/internals/rules.md`.
 *
 * Source: Hazelcast, "Stream to stream JOIN", last section.
 */
sealed trait WatermarkPlan extends Serializable {
  def eval(base: Array[Long]): Long

  /** The plans that it is computed from, without those below a join. */
  def inputs: Seq[WatermarkPlan] = Nil

  /** The same form with other inputs. */
  final def map(change: WatermarkPlan => WatermarkPlan): WatermarkPlan = this match {
    case WatermarkPlan.Least(inputs)         => WatermarkPlan.Least(inputs.map(change))
    case WatermarkPlan.AsOfLimit(inputs)     => WatermarkPlan.AsOfLimit(inputs.map(change))
    case WatermarkPlan.Greatest(inputs)      => WatermarkPlan.Greatest(inputs.map(change))
    case WatermarkPlan.Shifted(of, distance) => WatermarkPlan.Shifted(change(of), distance)
    case WatermarkPlan.Multiple(of, factor)  => WatermarkPlan.Multiple(change(of), factor)
    case other                               => other
  }

  /** Whether it follows from the watermarks at a join. */
  final def isOfJoin: Boolean = WatermarkPlan.joins(this).nonEmpty

  /** The same plan with base columns numbered from `by` on. */
  def shift(by: Int): WatermarkPlan = map(_.shift(by))
}

object WatermarkPlan {

  /**
   * The source columns in the same unit that a watermark follows from, without a join, as-of or
   * other, in between.
   */
  private[watermark] def direct(plan: WatermarkPlan): Seq[Int] = plan match {
    case Base(i)                    => Seq(i)
    case _: AsOfLimit | _: Multiple => Nil
    case other                      => other.inputs.flatMap(direct)
  }

  /** The joins right below. */
  private[watermark] def joins(plan: WatermarkPlan): Seq[JoinWatermarks] = plan match {
    case Joined(join, _) => Seq(join)
    case other           => other.inputs.flatMap(joins)
  }

  /**
   * For each source column, the columns whose watermarks it follows while its input is idle: in a
   * join those of the other input, in a union those of the other parts. If several joins read the
   * column, the lowest one decides.
   */
  def rivals(plan: WatermarkPlan): Map[Int, Set[Int]] = plan match {
    case Joined(join, _)   => join.rivals
    case Least(inputs)     => rivalsAmong(inputs)
    case AsOfLimit(inputs) => rivalsAmong(inputs)
    case other             => other.inputs.flatMap(rivals).toMap
  }

  private def rivalsAmong(inputs: Seq[WatermarkPlan]): Map[Int, Set[Int]] = {
    val others = for {
      input <- inputs
      i <- direct(input)
    } yield i -> inputs.filter(_ != input).flatMap(sources).toSet
    others.toMap ++ inputs.flatMap(rivals)
  }

  /** All source columns in the same unit that a watermark follows from. */
  private[watermark] def sources(plan: WatermarkPlan): Seq[Int] = plan match {
    case Base(i)              => Seq(i)
    case Joined(join, column) => join.sources(column)
    case _: Multiple          => Nil
    case other                => other.inputs.flatMap(sources)
  }

  /** Plans and all below them, also below joins, each behind those below it. */
  def nodes(plans: Seq[WatermarkPlan]): Seq[WatermarkPlan] = {
    // the columns of a join follow from one instance
    val seen = Collections.newSetFromMap(new IdentityHashMap[JoinWatermarks, java.lang.Boolean])
    def of(plan: WatermarkPlan): Seq[WatermarkPlan] = {
      val below = plan match {
        case Joined(join, _) => if (seen.add(join)) join.inputs else Nil
        case other           => other.inputs
      }
      below.flatMap(of) :+ plan
    }
    plans.flatMap(of)
  }

  /** The watermark of a source column: the largest value seen minus the lag. */
  final case class Base(index: Int) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = base(index)
    override def shift(by: Int): WatermarkPlan = Base(index + by)
  }

  /** A column of a union: the slowest of its inputs. */
  final case class Least(override val inputs: Seq[WatermarkPlan]) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = inputs.map(_.eval(base)).min
  }

  /**
   * The limit of an as-of join: the watermark of the slower side. All rows below it have arrived.
   * Rows are buffered until the limit passes them, so an idle input follows the other input of this
   * join, and no input of a join above.
   *
   * @param inputs the times of both sides, on one scale
   */
  final case class AsOfLimit(override val inputs: Seq[WatermarkPlan]) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = inputs.map(_.eval(base)).min
  }

  /** The greatest of several times that a row has all: at least the most advanced one. */
  final case class Greatest(override val inputs: Seq[WatermarkPlan]) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = inputs.map(_.eval(base)).max
  }

  /** A time at a constant distance from another. */
  final case class Shifted(of: WatermarkPlan, distance: Long) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = {
      val time = of.eval(base)
      if (time == Watermarks.Unknown) time else Saturated.add(time, distance)
    }
    override def inputs: Seq[WatermarkPlan] = Seq(of)
  }

  /** A time in a smaller unit: a multiple of it. */
  final case class Multiple(of: WatermarkPlan, factor: Long) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = {
      val time = of.eval(base)
      if (time == Watermarks.Unknown) time else Saturated.multiply(time, factor)
    }
    override def inputs: Seq[WatermarkPlan] = Seq(of)
  }

  /** The end of the window that a time falls into: later than the time itself. */
  def windowEnd(of: WatermarkPlan): WatermarkPlan = Shifted(of, 1)

  /** Whether it follows, among others, from the watermarks at a join. */
  def contains(plan: WatermarkPlan, join: JoinWatermarks.Id): Boolean =
    joins(plan).exists(_.contains(join))

  /** An output column of a join: delayed as long as the join may buffer rows. */
  final case class Joined(join: JoinWatermarks, column: Int) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = join.output(base, column)
    override def shift(by: Int): WatermarkPlan = Joined(join.shift(by), column)
  }

  /**
   * An output column of a join whose buffered rows at batch end are known. A row that the join
   * still emits was buffered, or is still to arrive there, and finds, or needs no, partner.
   *
   * Unlike all other forms this one depends on the buffered rows of all partitions. It tells
   * what one batch leaves to be emitted, and promises nothing to other operators.
   *
   * @param watermark the watermark that is promised to other operators
   * @param arriving for each column of the join, the lower bound of its rows still to arrive
   */
  final case class Remaining(
      watermark: Joined,
      arriving: JoinWatermarks,
      buffered: Buffered
  ) extends WatermarkPlan {
    private def bounds = watermark.join.bounds
    private def column = watermark.column

    override def eval(base: Array[Long]): Long = {
      val inputs = arriving.received(base)
      math.max(watermark.eval(base), math.min(ofBuffered(inputs), ofArriving(inputs)))
    }

    /**
     * A row may stay buffered longer than needed. It matches only rows still to arrive, and
     * below another join fewer may arrive than the watermark of that join promises. A joined
     * row is emitted only if it finds another partner. A row that was never joined is always
     * emitted if its side is preserved.
     */
    private def ofBuffered(inputs: Array[Long]): Long = math.min(
      buffered.unmatched(column),
      math.max(buffered.earliest(column), beside(inputs(_)))
    )

    private def ofArriving(inputs: Array[Long]): Long = {
      val own = inputs(column)
      if (buffered.preserved(bounds.columns(column).side)) own
      else math.max(own, beside(other => math.min(buffered.earliest(other), inputs(other))))
    }

    /**
     * The lower bound of a row that finds a partner in the other input, of which the earliest
     * times are known.
     */
    private def beside(earliest: Int => Long): Long =
      bounds.governing(column).map { other =>
        val partner = earliest(other)
        if (partner == Watermarks.Unknown) partner
        else Saturated.subtract(partner, bounds.slack(column, other))
      }.maxOption.getOrElse(Watermarks.Unknown)

    override def shift(by: Int): WatermarkPlan =
      Remaining(Joined(watermark.join.shift(by), column), arriving.shift(by), buffered)
  }

  /**
   * The buffered rows of a join, in all partitions.
   *
   * @param earliest by column, the earliest time of the rows; `Long.MaxValue` if there are none
   * @param unmatched the same for rows that were never joined and are emitted without a
   *   partner, too
   * @param preserved the sides whose rows are emitted without a partner, too
   */
  final case class Buffered(
      earliest: IndexedSeq[Long],
      unmatched: IndexedSeq[Long],
      preserved: Set[Side]
  )

  /** The same plan with the buffered rows of some joins known. */
  def remaining(
      plan: WatermarkPlan,
      buffered: JoinWatermarks.Id => Option[Buffered]
  ): WatermarkPlan = {
    // one instance for all columns of a join, so that each join is evaluated once
    val arriving = new IdentityHashMap[JoinWatermarks, JoinWatermarks]
    def of(plan: WatermarkPlan): WatermarkPlan = plan match {
      case joined @ Joined(join, _) =>
        buffered(join.id).fold[WatermarkPlan](joined) { h =>
          val known = arriving.computeIfAbsent(join, j => j.copy(inputs = j.inputs.map(of)))
          Remaining(joined, known, h)
        }
      case limit: AsOfLimit => limit
      case other            => other.map(of)
    }
    of(plan)
  }

  /** A column whose rows may be of any age. */
  case object Never extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = Watermarks.Unknown
  }
}

/**
 * The watermarks at one join.
 *
 * The plans of all columns of a join refer to one instance, and so do those of the joins above. It
 * keeps what each of them asks for. Otherwise the work would grow with the factorial of the number
 * of joins in a chain, since each column of a join asks for all columns of the join below.
 *
 * @param id identifies the join in its plan
 * @param inputs for each column of `bounds`, the plan of its watermark below the join
 */
final case class JoinWatermarks(
    id: JoinWatermarks.Id,
    bounds: JoinBounds,
    inputs: IndexedSeq[WatermarkPlan]
) {
  import JoinWatermarks._

  @transient private var lastReceived: Received = _
  @transient private lazy val shifted = TrieMap.empty[Int, JoinWatermarks]

  /** The joins right below, each once. */
  @transient private lazy val below: Seq[JoinWatermarks] = {
    val seen = Collections.newSetFromMap(new IdentityHashMap[JoinWatermarks, java.lang.Boolean])
    inputs.flatMap(WatermarkPlan.joins).filter(seen.add)
  }

  /** Whether the rows of a side are the output of a join. */
  def isOfJoin(side: Side): Boolean = bounds.indices(side).exists(inputs(_).isOfJoin)

  def shift(by: Int): JoinWatermarks =
    if (by == 0) this else shifted.getOrElseUpdate(by, copy(inputs = inputs.map(_.shift(by))))

  /** The watermarks that arrive at the join, by column. */
  def received(base: Array[Long]): Array[Long] = receivedFrom(base).clone

  /** The watermark of a column of the output. */
  def output(base: Array[Long], column: Int): Long =
    bounds.outputWatermark(column, receivedFrom(base))

  private def receivedFrom(base: Array[Long]): Array[Long] = {
    val known = lastReceived
    if (known != null && Arrays.equals(known.base, base)) known.received
    else {
      val received = inputs.map(_.eval(base)).toArray
      lastReceived = new Received(base.clone, received)
      received
    }
  }

  /** The display name of a source column at the lowest join that it reaches unchanged. */
  def nameOf(base: Int): Option[String] =
    inputs.indices
      .find(c => inputs(c) == WatermarkPlan.Base(base))
      .map(bounds.columns(_).name)
      .orElse(below.flatMap(_.nameOf(base)).headOption)

  /** Whether it is the join, or above it. */
  private[watermark] def contains(join: JoinWatermarks.Id): Boolean =
    id == join || below.exists(_.contains(join))

  /** Whether the condition of this join, or of a join below, compares numbers in different units. */
  @transient private lazy val mixesUnits: Boolean =
    bounds.mixesUnits || below.exists(_.mixesUnits)

  /**
   * The columns in the unit of a column, among them itself. Among several units, only a bound between
   * two columns tells that both have one unit.
   */
  private def inUnitOf(column: Int): IndexedSeq[Int] =
    bounds.columns.indices.filter(!mixesUnits || bounds.areRelated(column, _))

  /** For each column, the source columns in its unit that the watermarks follow from. */
  @transient private[watermark] lazy val sources: IndexedSeq[Seq[Int]] = {
    val received = inputs.map(WatermarkPlan.sources)
    inputs.indices.map(inUnitOf(_).flatMap(received).distinct)
  }

  /**
   * For each source column, the columns by which an idle input advances: those of the other
   * input of the lowest join that it reaches, in the same unit. A join above must not accept more
   * of a column than the join below does.
   */
  @transient lazy val rivals: Map[Int, Set[Int]] = {
    val here = for {
      c <- bounds.columns.indices
      i <- WatermarkPlan.direct(inputs(c))
    } yield i -> inUnitOf(c)
      .filter(bounds.indices(bounds.columns(c).side.other).contains)
      .flatMap(o => WatermarkPlan.sources(inputs(o)))
      .toSet
    inputs.flatMap(WatermarkPlan.rivals).toMap ++ here
  }
}

object JoinWatermarks {

  /** The IDs of the event-time columns of a join. Each join of a plan has a column of its own. */
  type Id = Set[Long]

  /** Fields are final: another thread sees all of a value or none. */
  private final class Received(val base: Array[Long], val received: Array[Long])
}
