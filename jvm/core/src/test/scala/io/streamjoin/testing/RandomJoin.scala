package io.streamjoin.testing

import scala.util.Random

import io.streamjoin.bounds.{TimeBound, TimeColumn}
import io.streamjoin.model.Side

/** Random conditions over small integer times, rows that satisfy the facts, and watermarks. */
final class RandomJoin(random: Random, maxColumns: Int) extends TestJoin {

  private val sides: Seq[(Side, Seq[Int])] = Side.both.map { side =>
    val names = (0 to random.nextInt(maxColumns)).map(i => s"${side.name}$i")
    side -> names.map(name => column(TimeColumn(side, name, chance(0.85), chance(0.2))).index)
  }

  private val (left, right) = (sides.head._2, sides.last._2)

  private lazy val marked = columns.indices.filter(columns(_).watermarked)

  private def chance(p: Double): Boolean = random.nextDouble() < p
  private def pick(of: Seq[Int]): Int = of(random.nextInt(of.length))
  private def slack(): Long = random.nextInt(8) - 2L

  for (_ <- 0 to random.nextInt(2)) {
    on(Seq(TimeBound(pick(left), pick(right), slack())))
    on(Seq(TimeBound(pick(right), pick(left), slack())))
  }
  for ((_, own) <- sides; i <- own; j <- own if i != j) {
    if (chance(0.3)) known(Seq(TimeBound(i, j, random.nextInt(4).toLong)))
    if (chance(0.05)) on(Seq(TimeBound(i, j, slack())))
  }

  /** Whether the join is accepted: both sides have bounded state. */
  def admissible: Boolean = Side.both.forall(bounds.bounded)

  /**
   * Rows around an advancing time, and watermarks a little behind it, so that most rows are not
   * late. Now and then a watermark is ahead, or lower than before.
   */
  def events(count: Int): Seq[Given] = {
    val pace = 0.3 + random.nextDouble() * 0.7
    (0 until count).map { i =>
      val now = (i * pace).toLong
      if (marked.isEmpty || chance(0.65)) row(s"$i", now) else watermark(now)
    }
  }

  /** The watermarks at the end of time. */
  def end: Seq[Wm] = random.shuffle(marked).map(Wm(_, Reference.endOfTime.toLong))

  private def row(name: String, now: Long): TestRow = {
    val (side, own) = sides(random.nextInt(2))
    def draw(): Map[Int, Long] = {
      val base = now + random.nextInt(5) - 2
      own
        .filterNot(c => columns(c).nullable && chance(0.25))
        .map(c => c -> (base + random.nextInt(5) - 2))
        .toMap
    }
    def keepsPromises(times: Map[Int, Long]) = facts
      .filter(f => times.contains(f.later) && times.contains(f.earlier))
      .forall(TestJoin.holds(_, times))
    TestRow(
      side,
      Iterator.continually(draw()).find(keepsPromises).get,
      key = Option.unless(chance(0.05))(if (chance(0.7)) 0L else 1L),
      joinable = !chance(0.05),
      // now and then two rows are equal in all fields
      name = if (chance(0.1)) "twin" else name
    )
  }

  private def watermark(now: Long): Wm = {
    val lag = if (chance(0.1)) -1L - random.nextInt(2) else random.nextInt(4).toLong
    Wm(pick(marked), now - lag)
  }

  override def toString: String = {
    def name(i: Int) = columns(i).name
    def text(b: TimeBound) = s"${name(b.later)} >= ${name(b.earlier)} - ${b.slack}"
    def describe(c: TimeColumn) = {
      val marks =
        Option.unless(c.watermarked)(" without watermark") ++ Option.when(c.nullable)(" nullable")
      c.name + marks.mkString
    }
    s"columns ${columns.map(describe).mkString(", ")}; on ${conjuncts.map(text).mkString(", ")}; " +
      s"known ${facts.map(text).mkString(", ")}"
  }
}

object RandomJoin {

  def admissible(random: Random, maxColumns: Int): RandomJoin =
    Iterator.continually(new RandomJoin(random, maxColumns)).find(_.admissible).get
}
