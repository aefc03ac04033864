package io.streamjoin.watermark

import io.streamjoin.bounds.{JoinBounds, Saturated}
import io.streamjoin.model.{Side, Watermarks}

/**
 * How the watermark of one time column of a plan comes about from the watermarks of the source
 * columns ("base" watermarks), so that any task can compute it without asking another.
 *
 * Every form is monotone in the base watermarks and depends on nothing else, least of all on what
 * happens to be buffered: all partitions agree, and a restart cannot take a watermark back.
 *
 * Rules R10, R15, R18 and R19 of `docs/internals/rules.md`.
 */
sealed trait WatermarkPlan extends Serializable {
  def eval(base: Array[Long]): Long

  /** Whether it follows from the watermarks at a join. */
  final def isOfJoin: Boolean = WatermarkPlan.joins(this).nonEmpty

  /** The same plan where the base columns are numbered from `by` on. */
  def shift(by: Int): WatermarkPlan
}

object WatermarkPlan {

  /** The source columns that a watermark follows from without a join, as-of or other, in between. */
  private[watermark] def direct(plan: WatermarkPlan): Seq[Int] = plan match {
    case Base(i)          => Seq(i)
    case Least(inputs)    => inputs.flatMap(direct)
    case Greatest(inputs) => inputs.flatMap(direct)
    case WindowEnd(of)    => direct(of)
    case Shifted(of, _)   => direct(of)
    case _                => Nil
  }

  /** The joins right below. */
  private[watermark] def joins(plan: WatermarkPlan): Seq[JoinWatermarks] = plan match {
    case Joined(join, _)   => Seq(join)
    case Least(inputs)     => inputs.flatMap(joins)
    case Greatest(inputs)  => inputs.flatMap(joins)
    case AsOfLimit(inputs) => inputs.flatMap(joins)
    case WindowEnd(of)     => joins(of)
    case Shifted(of, _)    => joins(of)
    case _                 => Nil
  }

  /**
   * For each source column, those that an idle input goes with: in a join those of the other input,
   * in a union those of its other inputs. The lowest join that the column comes to decides.
   */
  def rivals(plan: WatermarkPlan): Map[Int, Set[Int]] = plan match {
    case Joined(join, _)   => join.rivals
    case WindowEnd(of)     => rivals(of)
    case Shifted(of, _)    => rivals(of)
    case Greatest(inputs)  => inputs.flatMap(rivals).toMap
    case Least(inputs)     => rivalsAmong(inputs)
    case AsOfLimit(inputs) => rivalsAmong(inputs)
    case _                 => Map.empty
  }

  private def rivalsAmong(inputs: Seq[WatermarkPlan]): Map[Int, Set[Int]] = {
    val others = for {
      input <- inputs
      i <- direct(input)
    } yield i -> inputs.filter(_ != input).flatMap(sources).toSet
    others.toMap ++ inputs.flatMap(rivals)
  }

  /** All source columns that a watermark follows from. */
  private[watermark] def sources(plan: WatermarkPlan): Seq[Int] = plan match {
    case Base(i)           => Seq(i)
    case Joined(join, _)   => join.inputs.flatMap(sources)
    case Least(inputs)     => inputs.flatMap(sources)
    case Greatest(inputs)  => inputs.flatMap(sources)
    case AsOfLimit(inputs) => inputs.flatMap(sources)
    case WindowEnd(of)     => sources(of)
    case Shifted(of, _)    => sources(of)
    case _                 => Nil
  }

  /** The watermark of a source column: the largest value seen minus the lag. */
  final case class Base(index: Int) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = base(index)
    override def shift(by: Int): WatermarkPlan = Base(index + by)
  }

  /** A column of a union: the slowest of its inputs. */
  final case class Least(inputs: Seq[WatermarkPlan]) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = inputs.map(_.eval(base)).min
    override def shift(by: Int): WatermarkPlan = Least(inputs.map(_.shift(by)))
  }

  /**
   * The limit of an as-of join, below which all rows of both sides have come: the slower side. Its rows wait for it in
   * the join, so an idle input goes with the other one of this join, and with none above it.
   *
   * @param inputs the times of both sides, on one scale
   */
  final case class AsOfLimit(inputs: Seq[WatermarkPlan]) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = inputs.map(_.eval(base)).min
    override def shift(by: Int): WatermarkPlan = AsOfLimit(inputs.map(_.shift(by)))
  }

  /** The greatest of several times of which a row has all: no less than the one that is furthest. */
  final case class Greatest(inputs: Seq[WatermarkPlan]) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = inputs.map(_.eval(base)).max
    override def shift(by: Int): WatermarkPlan = Greatest(inputs.map(_.shift(by)))
  }

  /** A time at a constant distance from another. */
  final case class Shifted(of: WatermarkPlan, distance: Long) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = {
      val time = of.eval(base)
      if (time == Watermarks.Unknown) time else Saturated.add(time, distance)
    }
    override def shift(by: Int): WatermarkPlan = Shifted(of.shift(by), distance)
  }

  /** The end of the window that a time falls into: later than the time itself. */
  final case class WindowEnd(of: WatermarkPlan) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = {
      val time = of.eval(base)
      if (time == Watermarks.Unknown) time else Saturated.add(time, 1)
    }
    override def shift(by: Int): WatermarkPlan = WindowEnd(of.shift(by))
  }

  /** Whether it follows, among others, from the watermarks at a join with these bounds. */
  def contains(plan: WatermarkPlan, bounds: JoinBounds): Boolean =
    joins(plan).exists(j => (j.bounds eq bounds) || j.inputs.exists(contains(_, bounds)))

  /** A column that comes out of a join: held back as long as the join may hold rows back. */
  final case class Joined(join: JoinWatermarks, column: Int) extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = join.output(base, column)
    override def shift(by: Int): WatermarkPlan = Joined(join.shift(by), column)
  }

  /**
   * A column that comes out of a join of which it is known what it holds at the end of a batch: what is
   * still to come out of it was held, or is still to come to it, and finds, or needs no, partner. Unlike all
   * others this depends on what is buffered, in all partitions: it says of one batch what can come after
   * it, and promises nothing to other operators.
   *
   * @param watermark what is promised to other operators
   * @param inputs for each column of the join, what remains to come to it
   */
  final case class Remaining(watermark: Joined, inputs: IndexedSeq[WatermarkPlan], buffered: Buffered)
      extends WatermarkPlan {
    private def bounds = watermark.join.bounds
    private def column = watermark.column

    override def eval(base: Array[Long]): Long = math.max(
      watermark.eval(base),
      math.min(ofBuffered(base), ofArriving(base))
    )

    /**
     * A row that is held may be kept for longer than it is of use: it meets only what is still to come, and below
     * another join less may come than that one's watermark promises. One that has been joined comes out only if it
     * meets something; one that has not comes out in any case where its side is preserved.
     */
    private def ofBuffered(base: Array[Long]): Long = math.min(
      buffered.unmatched(column),
      math.max(buffered.earliest(column), beside(other => inputs(other).eval(base)))
    )

    private def ofArriving(base: Array[Long]): Long = {
      val own = inputs(column).eval(base)
      if (buffered.preserved(bounds.columns(column).side)) own
      else math.max(own, beside(other => math.min(buffered.earliest(other), inputs(other).eval(base))))
    }

    /** What a row must not be below to meet one of the other input, of which it is known how early each time can be. */
    private def beside(earliest: Int => Long): Long =
      bounds.governing(column).map { other =>
        val partner = earliest(other)
        if (partner == Watermarks.Unknown) partner
        else Saturated.subtract(partner, bounds.slack(column, other))
      }.maxOption.getOrElse(Watermarks.Unknown)

    override def shift(by: Int): WatermarkPlan =
      Remaining(Joined(watermark.join.shift(by), column), inputs.map(_.shift(by)), buffered)
  }

  /**
   * What a join holds, in all partitions.
   *
   * @param earliest by column, the earliest time of the rows; `Long.MaxValue` where there are none
   * @param unmatched the same of those that have met nothing yet and come out without a partner, too
   * @param preserved the sides whose rows come out without a partner, too
   */
  final case class Buffered(
      earliest: IndexedSeq[Long],
      unmatched: IndexedSeq[Long],
      preserved: Set[Side]
  )

  /** The same plan where it is known what some joins hold. */
  def remaining(plan: WatermarkPlan, buffered: JoinBounds => Option[Buffered]): WatermarkPlan =
    plan match {
      case joined @ Joined(join, _) =>
        buffered(join.bounds).fold[WatermarkPlan](joined) { h =>
          Remaining(joined, join.inputs.map(remaining(_, buffered)), h)
        }
      case Least(inputs)         => Least(inputs.map(remaining(_, buffered)))
      case Greatest(inputs)      => Greatest(inputs.map(remaining(_, buffered)))
      case WindowEnd(of)         => WindowEnd(remaining(of, buffered))
      case Shifted(of, distance) => Shifted(remaining(of, buffered), distance)
      case other                 => other
    }

  /** A column whose rows may be of any age. */
  case object Never extends WatermarkPlan {
    override def eval(base: Array[Long]): Long = Watermarks.Unknown
    override def shift(by: Int): WatermarkPlan = Never
  }
}

/**
 * The watermarks at one join.
 *
 * @param inputs for each column of `bounds`, how its watermark comes about below the join
 */
final case class JoinWatermarks(bounds: JoinBounds, inputs: IndexedSeq[WatermarkPlan]) {

  /** Whether what comes to a side has come out of a join. */
  def isOfJoin(side: Side): Boolean = bounds.indices(side).exists(inputs(_).isOfJoin)

  def shift(by: Int): JoinWatermarks = JoinWatermarks(bounds, inputs.map(_.shift(by)))

  /** The watermarks that arrive at the join, by column. */
  def received(base: Array[Long]): Array[Long] = inputs.map(_.eval(base)).toArray

  /** The watermark that leaves the join for a column of its output. */
  def output(base: Array[Long], column: Int): Long =
    bounds.outputWatermark(column, received(base))

  /** What the lowest join that a source column comes to as it is calls it. */
  def nameOf(base: Int): Option[String] =
    inputs.indices
      .find(c => inputs(c) == WatermarkPlan.Base(base))
      .map(bounds.columns(_).name)
      .orElse(inputs.flatMap(WatermarkPlan.joins).flatMap(_.nameOf(base)).headOption)

  /**
   * For each source column, those that an idle input goes with: the columns of the other input of the
   * lowest join it comes to. A join above must not believe more of a column than the join below does.
   */
  def rivals: Map[Int, Set[Int]] = {
    val here = for {
      c <- bounds.columns.indices
      i <- WatermarkPlan.direct(inputs(c))
    } yield i -> bounds
      .indices(bounds.columns(c).side.other)
      .flatMap(o => WatermarkPlan.sources(inputs(o)))
      .toSet
    inputs.flatMap(WatermarkPlan.rivals).toMap ++ here
  }
}
