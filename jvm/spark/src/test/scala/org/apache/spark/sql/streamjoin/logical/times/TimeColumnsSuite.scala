package org.apache.spark.sql.streamjoin.logical.times

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.dsl.expressions._
import org.apache.spark.sql.catalyst.dsl.plans._
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ImposeOrder
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** The plan nodes that pass a watermark, and those that end it. */
class TimeColumnsSuite extends AnyFunSuite {
  import TimeColumnsSuite._

  private val stream = new Source(isStreaming = true)
  import stream.{id, n, t}

  private val table = new Source(isStreaming = false)

  private val input = ordered(t, stream.plan)

  private def watermarked(plan: LogicalPlan): Seq[String] = {
    val times = TimeColumns.of(plan)
    assert(times.imposed)
    plan.output.filter(times.isWatermarked).map(_.name)
  }

  private val passing: Seq[(String, LogicalPlan)] = Seq(
    "a filter" -> input.where(id > 3L),
    "an alias" -> input.subquery("s"),
    "a sort" -> input.sortBy(id.asc),
    "a limit" -> GlobalLimit(Literal(3), LocalLimit(Literal(3), input)),
    "an offset" -> Offset(Literal(3), input),
    "a sample" -> Sample(0.0, 0.5, withReplacement = false, 1L, input),
    "a repartition" -> input.repartition(3),
    "a hint" -> ResolvedHint(input),
    "explode" -> Generate(
      Explode(CreateArray(Seq(id))),
      Nil,
      outer = false,
      None,
      Seq(Symbol("e").long),
      input
    ),
    "EventTimeWatermark" -> delayed(t, input),
    "deduplication" -> Deduplicate(Seq(id), input),
    "deduplication within the watermark" -> DeduplicateWithinWatermark(Seq(id), input),
    "a join with a table" -> input.join(table.plan, LeftOuter, Some(id === table.id)),
    "StreamJoinInput" -> StreamJoinInput.of(input, zoned = Nil),
    "evaluation of Python functions" -> BatchEvalPython(Nil, Nil, input)
  )

  for ((name, plan) <- passing)
    test(s"$name passes the watermark")(assert(watermarked(plan) == Seq("t")))

  private val ending: Seq[(String, LogicalPlan)] = Seq(
    "an unknown node" -> Unknown(input),
    "an unknown node below a filter" -> Unknown(input).where(id > 3L),
    "a grouping without its time" -> input.groupBy(id)(id),
    "DISTINCT of a time without Spark's watermark" -> Distinct(input),
    "a window function" -> Window(Nil, Seq(id), Nil, input),
    "a grouping by a time without Spark's watermark" -> input.groupBy(t)(t),
    "a union with a stream without a watermark" -> input.union(new Source(isStreaming = true).plan)
  )

  for ((name, plan) <- ending) test(s"$name ends the watermark")(assert(watermarked(plan).isEmpty))

  test("a projection passes a column unchanged, renamed, or cast to a wider number") {
    val number = ordered(n, stream.plan)
    assert(watermarked(input.select(t, id)) == Seq("t"))
    assert(watermarked(input.select(t.as("u"), id)) == Seq("u"))
    assert(watermarked(number.select(n.cast(LongType).as("wide"))) == Seq("wide"))
    assert(watermarked(number.select(n.cast(ShortType).as("narrow"))).isEmpty)
    assert(watermarked(input.select(Cast(t, DateType, Some("UTC")).as("day"))).isEmpty)
  }

  test("Spark's stateful operators pass a time that has Spark's watermark") {
    val plan = delayed(t, stream.plan)
    val time = plan.output.find(_.name == "t").get
    val below = ordered(time, plan)
    assert(watermarked(below.groupBy(time)(time)) == Seq("t"))
    assert(watermarked(Distinct(below)) == Seq("t"))
  }

  test("a union passes a column that has a watermark in all inputs") {
    val other = new Source(isStreaming = true)
    assert(watermarked(input.union(ordered(other.t, other.plan))) == Seq("t"))
  }

  test("a join of Spark passes the times that it bounds in both directions") {
    val other = new Source(isStreaming = true)
    val (left, right) = (delayed(t, stream.plan), delayed(other.t, other.plan))
    val (l, r) = (left.output(1), right.output(1))
    val inFour = TimestampAddInterval(r, Literal(4000000L, DayTimeIntervalType()), Some("UTC"))
    val key = id === other.id
    val both = Set("left", "right")

    def kept(condition: Expression): Set[String] = {
      val join = Join(left, right, Inner, Some(condition), JoinHint.NONE)
      SparksJoin.keptTimes(join).map(a => if (a.exprId == l.exprId) "left" else "right").toSet
    }
    assert(kept(key) == Set())
    assert(kept(key && l >= r) == Set())
    assert(kept(key && l >= r && l <= inFour) == both)
    assert(kept(key && !(l < r) && !(l > inFour)) == both)
    assert(kept(key && Between(l, r, inFour)) == both)
    assert(kept(key && l === r) == both)
    // an equality key bounds the time on its own
    assert(kept(l === other.n.cast(TimestampType)) == Set("left"))
    // Spark does not derive this bound
    assert(kept(key && l >= Least(Seq(r, inFour)) && l <= inFour) == Set())
  }
}

private object TimeColumnsSuite {

  /** A node that [[TimeColumns]] does not know. */
  case class Unknown(child: LogicalPlan) extends UnaryNode {
    override def output: Seq[Attribute] = child.output
    override protected def withNewChildInternal(newChild: LogicalPlan): Unknown =
      copy(child = newChild)
  }

  class Source(isStreaming: Boolean) {
    val id: Attribute = Symbol("id").long
    val t: Attribute = Symbol("t").timestamp
    val n: Attribute = Symbol("n").int
    val plan: LogicalPlan = LocalRelation(Seq(id, t, n), Nil, isStreaming)
  }

  def ordered(column: Attribute, child: LogicalPlan): LogicalPlan =
    ImposeOrder(UUID.randomUUID(), column, 5L, None, Nil, imposed = true, None, None, child)

  def delayed(column: Attribute, child: LogicalPlan): EventTimeWatermark = {
    val delay = IntervalUtils.stringToInterval(UTF8String.fromString("5 seconds"))
    EventTimeWatermark(UUID.randomUUID(), column, delay, child)
  }
}
