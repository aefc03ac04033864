package io.streamjoin.rules

import scala.io.Source

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.bounds.{JoinBounds, RowBounds, RowTimes, TimeBound, TimeColumn}
import io.streamjoin.join.{Count, Counters}
import io.streamjoin.join.asof.AsOfBounds
import io.streamjoin.join.changelog.EvictionRule
import io.streamjoin.join.ordered.{OrderOperator, OrderedRows}
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.testing.HeapJoinState
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * Compares the code with the proven rules of `docs/internals/rules.md`: both give the same answer
 * in each case of `cases.txt`. `python -m tests.proofs.new_cases` writes this file. It contains
 * random cases and those with which a solver distinguishes a rule from a weakened one.
 */
class RulesSuite extends AnyFunSuite {
  import RulesSuite._

  private val cases: Seq[(Fields, Fields)] = {
    val file = Source.fromResource("io/streamjoin/rules/cases.txt")
    try file.getLines().map(parsed).toVector
    finally file.close()
  }

  private def of(kind: String) = cases.filter(_._1.contains(kind))

  private val joins = of("columns").map { case (asked, _) => new JoinCase(asked) }

  private def check(kind: String, atLeast: Int)(answer: Fields => Fields): Unit = {
    assert(of(kind).length >= atLeast)
    for ((asked, expected) <- of(kind))
      withClue(s"$asked\n")(assert(answer(asked).toSeq.sorted == expected.toSeq.sorted))
  }

  test("R2 to R8, R10 to R12, R17, R27: bounds, row decisions and output of a join") {
    check("columns", 300)(new JoinCase(_).answer)
  }

  test("R8: the probe range of a row contains the probe time of each partner") {
    val found = for {
      ((_, expected), join) <- of("columns").zip(joins) if expected("pairs") == "1"
      side <- Side.both
    } yield {
      val target = join.rowsOf(side.other).probeTime(join.times)
      val rows = join.rowsOf(side)
      assert(rows.probeFrom(join.times) <= target && target <= rows.probeTo(join.times))
    }
    assert(found.length > 50)
  }

  test("R10, R15, R18: column watermarks above joins, unions and computed times") {
    check("plan", 100) { asked =>
      val plan = WatermarkPlans(asked("plan"), joins.map(_.bounds))
      Map("value" -> mark(plan.eval(marks(asked("base")))))
    }
  }

  test("R19: the earliest time that a join can still emit") {
    check("remaining", 100) { asked =>
      val (number, column) = two(asked("remaining"), ":")
      val join = joins(number.toInt)
      val inputs = join.bounds.columns.indices.map(WatermarkPlan.Base(_))
      val held = WatermarkPlan.Buffered(
        limits(asked("earliest")).toIndexedSeq,
        limits(asked("unmatched")).toIndexedSeq,
        typeOf(asked("type")).preserved
      )
      val plan = WatermarkPlan.Joined(JoinWatermarks(Set.empty, join.bounds, inputs), column.toInt)
      val remaining = WatermarkPlan.remaining(plan, _ => Some(held))
      Map("value" -> mark(remaining.eval(marks(asked("base")))))
    }
  }

  test("R21, R23: limit, due rows and expired rows of an as-of join") {
    check("asof", 40) { asked =>
      val probe = sideOf(asked("asof").head)
      val bounds = AsOfBounds(
        probe,
        1,
        asked("reach").toLong,
        Option(asked("tolerance")).filter(_ != Absent).map(_.toLong)
      )
      val received = marks(asked("marks"))
      val limit = bounds.limit(side => received(if (side == probe) 0 else 1))
      val time = asked("time").toLong
      Map(
        "limit" -> mark(limit),
        "due" -> flags(Seq(probe, probe.other).map(bounds.due(_, time) < limit)),
        "expired" -> flags(Seq(bounds.evictionLimit(probe.other, time, settled = true) < limit))
      )
    }
  }

  test("R20: the order operator emits, holds or drops each row") {
    check("order", 20) { asked =>
      val limits = marks(asked("limits"))
      val counters = new Counters
      val state = new HeapJoinState[Long](identity)
      val operator = new OrderOperator[Long](TimeAlone, asked("order") == "tied", state, counters)
      operator.begin(limits(0), limits(1))
      val fates = items(asked("times")).map { time =>
        val late = counters.rows(Count.Late)
        if (operator.passes(time.toLong)) "out"
        else if (counters.rows(Count.Late) > late) "late"
        else "held"
      }
      Map("fates" -> fates.mkString(","))
    }
  }
}

private object RulesSuite {

  type Fields = Map[String, String]

  /** NULL, an unknown watermark, no bound, or no row. */
  val Absent: String = "-"

  def parsed(line: String): (Fields, Fields) = {
    val (asked, expected) = two(line, " => ")
    (fields(asked), fields(expected))
  }

  private def fields(text: String): Fields = text.split(" ").map(two(_, "=")).toMap

  def two(text: String, separator: String): (String, String) = {
    val at = text.indexOf(separator)
    (text.take(at), text.drop(at + separator.length))
  }

  def items(values: String): Seq[String] = if (values.isEmpty) Nil else values.split(",").toSeq

  def marks(values: String): Array[Long] = numbers(values, Watermarks.Unknown)

  def limits(values: String): Array[Long] = numbers(values, Long.MaxValue)

  private def numbers(values: String, none: Long): Array[Long] =
    items(values).map(v => if (v == Absent) none else v.toLong).toArray

  def mark(value: Long): String = if (value == Watermarks.Unknown) Absent else value.toString

  def limit(value: Long): String = if (value == Long.MaxValue) Absent else value.toString

  def flags(values: Seq[Boolean]): String = values.map(if (_) '1' else '0').mkString

  def sideOf(letter: Char): Side = if (letter == 'L') Side.Left else Side.Right

  def typeOf(name: String): JoinType = JoinType.all.find(_.name.replace(' ', '_') == name).get

  object TimeAlone extends OrderedRows[Long] {
    override def isTimeless(row: Long): Boolean = false
    override def time(row: Long): Long = row
  }

  /** A join, a row of each input, and watermarks. */
  final class JoinCase(asked: Fields) {

    val bounds: JoinBounds = new JoinBounds(
      items(asked("columns")).zipWithIndex.map { case (c, i) =>
        TimeColumn(sideOf(c.head), s"c$i", !c.contains('u'), c.contains('n'))
      }.toIndexedSeq,
      timeBounds(asked("conjuncts")),
      timeBounds(asked("facts"))
    )

    val times: RowTimes = new RowTimes(bounds.columns.length)

    for ((time, i) <- items(asked("times")).zipWithIndex)
      if (time == Absent) times.setNull(i) else times.set(i, time.toLong)

    val rowsOf: BySide[RowBounds] = BySide.of(new RowBounds(bounds, _))

    private val received = marks(asked("marks"))
    private val joinType = typeOf(asked("type"))
    private val columns = bounds.columns.indices

    private def timeBounds(values: String): Seq[TimeBound] = items(values).map { bound =>
      val parts = bound.split(":")
      TimeBound(parts(0).toInt, parts(1).toInt, parts(2).toLong)
    }

    private def limitsOf(side: Side): Array[Long] = {
      val found = new Array[Long](rowsOf(side).limitCount)
      rowsOf(side).limits(times, found)
      found
    }

    private def ofSides(decided: RowBounds => Boolean) = flags(Side.both.map(rowsOf).map(decided))

    def answer: Fields = {
      val leaving = EvictionRule(bounds, alone = false)
      val leavingBy = Side.both.flatMap(leaving.columns)
      Map(
        "contradictory" -> flags(Seq(bounds.contradictory)),
        "slack" -> columns.flatMap(i => columns.map(bounds.slack(i, _))).map(limit).mkString(","),
        "limiting" -> Side.both.flatMap(bounds.limiting).mkString(","),
        "late" -> ofSides(_.lateBy(times, received) >= 0),
        "required" -> ofSides(!_.lacksTime(times)),
        "consistent" -> ofSides(_.consistent(times)),
        "limits" -> Side.both.flatMap(limitsOf(_).toSeq).map(limit).mkString(","),
        "survives" -> flags(Side.both.map(s => rowsOf(s).survives(limitsOf(s), received))),
        "output" -> columns.map(bounds.outputWatermark(_, received)).map(mark).mkString(","),
        "above" -> bounds.outputFacts(joinType)
          .map(b => s"${b.later}:${b.earlier}:${b.slack}").mkString(","),
        "nullable" -> flags(columns.map(bounds.nullableInOutput(_, joinType))),
        "leaving" -> leavingBy.mkString(","),
        "clocks" -> leavingBy.map(leaving.clock(_, received)).map(mark).mkString(","),
        "pairs" -> flags(Seq(bounds.conjuncts.forall(holds) && bounds.facts.forall(isKept)))
      )
    }

    private def lacks(bound: TimeBound): Boolean =
      times.isNull(bound.later) || times.isNull(bound.earlier)

    private def holds(bound: TimeBound): Boolean =
      !lacks(bound) && times(bound.later) >= times(bound.earlier) - bound.slack

    private def isKept(fact: TimeBound): Boolean = lacks(fact) || holds(fact)
  }

  /** A plan in prefix notation. */
  object WatermarkPlans {
    import WatermarkPlan._

    def apply(text: String, joins: Seq[JoinBounds]): WatermarkPlan = {
      val tokens = items(text).iterator
      def several(count: Int): IndexedSeq[WatermarkPlan] = IndexedSeq.fill(count)(next())
      def next(): WatermarkPlan = {
        val (kind, rest) = two(tokens.next() + ":", ":")
        val numbers = rest.split(":").filter(_.nonEmpty).map(_.toInt)
        kind match {
          case "B" => Base(numbers(0))
          case "N" => Never
          case "W" => windowEnd(next())
          case "S" => Shifted(next(), numbers(0).toLong)
          case "L" => Least(several(numbers(0)))
          case "G" => Greatest(several(numbers(0)))
          case "J" =>
            val bounds = joins(numbers(0))
            Joined(JoinWatermarks(Set.empty, bounds, several(bounds.columns.length)), numbers(1))
        }
      }
      next()
    }
  }
}
