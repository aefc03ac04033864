package io.streamjoin.watermark

import java.util.{Arrays, Collections, IdentityHashMap}

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Side

/**
 * The watermarks at one join.
 *
 * The plans of all columns of a join refer to one instance, and so do those of the joins above. It
 * keeps what each of them asks for. Otherwise the work would grow with the factorial of the number
 * of joins in a chain, since each column of a join asks for all columns of the join below.
 *
 * @param inputs for each column of `bounds`, the plan of its watermark below the join
 */
final case class JoinWatermarks(bounds: JoinBounds, inputs: IndexedSeq[WatermarkPlan]) {
  import JoinWatermarks._

  @transient private var lastReceived: Received = _
  @transient private var lastShift: Shift = _

  /** The joins right below, each once. */
  @transient private lazy val below: Seq[JoinWatermarks] = {
    val seen = Collections.newSetFromMap(new IdentityHashMap[JoinWatermarks, java.lang.Boolean])
    inputs.flatMap(WatermarkPlan.joins).filter(seen.add)
  }

  /** Whether the rows of a side are the output of a join. */
  def isOfJoin(side: Side): Boolean = bounds.indices(side).exists(inputs(_).isOfJoin)

  def shift(by: Int): JoinWatermarks =
    if (by == 0) this
    else {
      val known = lastShift
      if (known != null && known.by == by) known.shifted
      else {
        val shifted = JoinWatermarks(bounds, inputs.map(_.shift(by)))
        lastShift = new Shift(by, shifted)
        shifted
      }
    }

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

  /** Whether it is the join with these bounds, or above it. */
  private[watermark] def contains(bounds: JoinBounds): Boolean =
    (this.bounds eq bounds) || below.exists(_.contains(bounds))

  /** The source columns that the watermarks follow from. */
  @transient private[watermark] lazy val sources: Seq[Int] =
    inputs.flatMap(WatermarkPlan.sources).distinct

  /**
   * For each source column, the columns by which an idle input advances: those of the other
   * input of the lowest join that it reaches. A join above must not accept more of a column
   * than the join below does.
   */
  @transient lazy val rivals: Map[Int, Set[Int]] = {
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

object JoinWatermarks {

  /** Fields are final: another thread sees all of a value or none. */
  private final class Received(val base: Array[Long], val received: Array[Long])

  private final class Shift(val by: Int, val shifted: JoinWatermarks)
}
