package io.streamjoin.rules

import scala.io.Source

import io.streamjoin.bounds.{JoinBounds, RowBounds, RowTimes, Saturated, TimeBound, TimeColumn}
import io.streamjoin.join.{Count, Counters}
import io.streamjoin.join.asof.AsOfBounds
import io.streamjoin.join.changelog.EvictionRule
import io.streamjoin.join.ordered.{OrderOperator, OrderedRows}
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.placement.ReachBuckets
import io.streamjoin.testing.HeapJoinState
import io.streamjoin.watermark.GroupedWatermark.Group
import io.streamjoin.watermark.{GroupedWatermark, JoinWatermarks, WatermarkPlan}

/**
 * The answers of the code in the cases of `tests/proofs/cases.py`, where the rules of
 * `docs/internals/rules.md` answer the same. As a program, it reads cases and writes its answers.
 *
 * @param joins those that other cases refer to by number
 */
final class CodeAnswers(joins: IndexedSeq[CodeAnswers.JoinCase]) {
  import CodeAnswers._

  def apply(kind: String, asked: Fields): Fields = kind match {
    case "groups"    => ofGroups(asked)
    case "columns"   => new JoinCase(asked).answer
    case "plan"      => ofPlan(asked)
    case "remaining" => ofRemaining(asked)
    case "rivals"    => ofRivals(asked)
    case "asof"      => ofAsOf(asked)
    case "order"     => ofOrder(asked)
    case "bucket"    => ofBucket(asked)
    case "long"      => ofLong(asked)
    case "run"       => OperatorRuns.eventTime(joins(asked("run").toInt), asked)
    case "last"      => OperatorRuns.asOf(asked)
    case "changelog" => OperatorRuns.changelog(asked)
  }

  private def ofGroups(asked: Fields): Fields = {
    // an idle group had no row for as long as the timeout, which ends in this batch
    val groups = items(asked("groups")).zipWithIndex.map { case (group, i) =>
      val parts = group.split(":")
      val active = if (parts(2) == "i") 0L else 1L
      (i.toString, Group(marks(parts(0)).head, active), marks(parts(1)).head)
    }
    val before = GroupedWatermark(
      marks(asked("before")).head,
      groups.map { case (name, group, _) => name -> group }.toMap
    )
    val arrived = groups.map { case (name, _, largest) => name -> largest }.toMap
    val after = before.next(arrived, asked("lag").toLong, Some(10L), nowMs = 10L)
    Map(
      "value" -> mark(after.column),
      "marks" -> groups.map(g => mark(after.groups(g._1).watermark)).mkString(",")
    )
  }

  private def ofPlan(asked: Fields): Fields = {
    val plan = WatermarkPlans(asked("plan"), joins.map(_.bounds))
    Map("value" -> mark(plan.eval(marks(asked("base")))))
  }

  private def ofRivals(asked: Fields): Fields = {
    val plan = WatermarkPlans(asked("rivals"), joins.map(_.bounds))
    val found = WatermarkPlan.rivals(plan).toSeq.sortBy(_._1)
    Map("rivals" -> found.map { case (i, of) => s"$i:${of.toSeq.sorted.mkString(".")}" }
      .mkString(","))
  }

  private def ofRemaining(asked: Fields): Fields = {
    val (number, column) = two(asked("remaining"), ":")
    val bounds = joins(number.toInt).bounds
    def inputs(from: Int) = JoinWatermarks(
      Set.empty,
      bounds,
      bounds.columns.indices.map(i => WatermarkPlan.Base(from + i))
    )
    val plan = WatermarkPlan.Remaining(
      WatermarkPlan.Joined(inputs(0), column.toInt),
      inputs(bounds.columns.length),
      WatermarkPlan.Buffered(
        limits(asked("earliest")).toIndexedSeq,
        limits(asked("unmatched")).toIndexedSeq,
        typeOf(asked("type")).preserved
      )
    )
    Map("value" -> mark(plan.eval(marks(asked("base")) ++ marks(asked("coming")))))
  }

  private def ofAsOf(asked: Fields): Fields = {
    val bounds = asOfBounds(asked, sideOf(asked("asof").head), last = 1)
    val probe = bounds.probe
    val received = marks(asked("marks"))
    val limit = bounds.limit(side => received(if (side == probe) 0 else 1))
    val time = asked("time").toLong
    val plan = bounds.limitPlan(side => WatermarkPlan.Base(if (side == probe) 0 else 1))
    val sides = Seq(probe, probe.other)
    Map(
      "limit" -> mark(limit),
      "due" -> flags(sides.map(bounds.due(_, time) < limit)),
      "expired" -> flags(Seq(bounds.evictionLimit(probe.other, time, settled = true) < limit)),
      "output" -> sides.map(bounds.outputWatermark(_, plan)
        .fold(Watermarks.Unknown)(_.eval(received))).map(mark).mkString(",")
    )
  }

  private def ofOrder(asked: Fields): Fields = {
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

  private def ofBucket(asked: Fields): Fields = {
    val side = sideOf(asked("bucket").head)
    val found = ReachBuckets.of(asked("before").toLong, asked("after").toLong, bothCopied = true)
    val buckets = found.get.copy(width = asked("width").toLong)
    val time = asked("time").toLong
    Map(
      "shift" -> buckets.shift.toString,
      "reach" -> buckets.reach.toString,
      "bucket" -> buckets.bucketOf(side, time).toString,
      "beside" -> buckets.neighbour(side, time).toString
    )
  }

  private def ofLong(asked: Fields): Fields = {
    val (a, b) = (asked("a").toLong, asked("b").toLong)
    val value = asked("long") match {
      case "add"      => Saturated.add(a, b)
      case "subtract" => Saturated.subtract(a, b)
      case "multiply" => Saturated.multiply(a, b)
      case "divide"   => Saturated.divideUp(a, b)
    }
    Seq("bits", "value").map(_ -> value.toString).toMap
  }
}

object CodeAnswers {

  /** The answers of all cases, with the kind of each. */
  def of(lines: Seq[String]): Seq[Fields] = {
    val cases = lines.map(line => line.takeWhile(_ != '=') -> fields(line))
    val joins = cases.collect { case ("columns", asked) => new JoinCase(asked) }
    val answers = new CodeAnswers(joins.toIndexedSeq)
    cases.map { case (kind, asked) => answers(kind, asked) }
  }

  def main(arguments: Array[String]): Unit =
    for (found <- of(Source.stdin.getLines().toVector))
      println(found.map { case (name, values) => s"$name=$values" }.mkString(" "))

  type Fields = Map[String, String]

  /** NULL, an unknown watermark, no bound, or no row. */
  val Absent: String = "-"

  def fields(text: String): Fields = text.split(" ").map(two(_, "=")).toMap

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

  def asOfBounds(asked: Fields, probe: Side, last: Int): AsOfBounds =
    AsOfBounds(probe, last, asked("reach").toLong, number(asked("tolerance")))

  def number(value: String): Option[Long] = Option(value).filter(_ != Absent).map(_.toLong)

  private object TimeAlone extends OrderedRows[Long] {
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
  private object WatermarkPlans {
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
          case "A" => AsOfLimit(several(2))
          case "J" =>
            val bounds = joins(numbers(0))
            Joined(JoinWatermarks(Set.empty, bounds, several(bounds.columns.length)), numbers(1))
        }
      }
      next()
    }
  }
}
