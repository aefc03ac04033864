package org.apache.spark.sql.streamjoin.logical.times

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.dsl.expressions._
import org.apache.spark.sql.catalyst.dsl.plans._
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.streamjoin.logical.plan.{ImposeOrder, StreamJoinInput}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Which nodes watermarks pass, and which not. */
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
    "partitions" -> input.repartition(3),
    "a hint" -> ResolvedHint(input),
    "explode" -> Generate(
      Explode(CreateArray(Seq(id))),
      Nil,
      outer = false,
      None,
      Seq(Symbol("e").long),
      input
    ),
    "Spark's watermark" -> delayed(t, input),
    "deduplication" -> Deduplicate(Seq(id), input),
    "deduplication within the watermark" -> DeduplicateWithinWatermark(Seq(id), input),
    "a join with a table" -> input.join(table.plan, LeftOuter, Some(id === table.id)),
    "an input of ours" -> StreamJoinInput.of(input, zoned = Nil),
    "Python functions" -> BatchEvalPython(Nil, Nil, input)
  )

  for ((name, plan) <- passing) test(s"$name passes it")(assert(watermarked(plan) == Seq("t")))

  private val ending: Seq[(String, LogicalPlan)] = Seq(
    "an unknown node" -> Unknown(input),
    "an unknown node, and what passes above it" -> Unknown(input).where(id > 3L),
    "a group without its time" -> input.groupBy(id)(id),
    "DISTINCT, of a time without Spark's watermark" -> Distinct(input),
    "a sliding calculation" -> Window(Nil, Seq(id), Nil, input),
    "a group by a time without Spark's watermark" -> input.groupBy(t)(t),
    "a union with a stream that has none" -> input.union(new Source(isStreaming = true).plan)
  )

  for ((name, plan) <- ending) test(s"$name ends it")(assert(watermarked(plan).isEmpty))

  test("a projection passes a column as it is, renamed, or as a wider number") {
    val number = ordered(n, stream.plan)
    assert(watermarked(input.select(t, id)) == Seq("t"))
    assert(watermarked(input.select(t.as("u"), id)) == Seq("u"))
    assert(watermarked(number.select(n.cast(LongType).as("wide"))) == Seq("wide"))
    assert(watermarked(number.select(n.cast(ShortType).as("narrow"))).isEmpty)
    assert(watermarked(input.select(Cast(t, DateType, Some("UTC")).as("day"))).isEmpty)
  }

  test("of Spark's stateful operators, a time that has Spark's mark") {
    val plan = delayed(t, stream.plan)
    val time = plan.output.find(_.name == "t").get
    val below = ordered(time, plan)
    assert(watermarked(below.groupBy(time)(time)) == Seq("t"))
    assert(watermarked(Distinct(below)) == Seq("t"))
  }

  test("a union has the columns that all inputs have") {
    val other = new Source(isStreaming = true)
    assert(watermarked(input.union(ordered(other.t, other.plan))) == Seq("t"))
  }

  test("of a join of Spark's, the times that it bounds on both sides") {
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
    // by the key, whatever stands beside it
    assert(kept(l === other.n.cast(TimestampType)) == Set("left"))
    // bounds that only we see
    assert(kept(key && l >= Least(Seq(r, inFour)) && l <= inFour) == Set())
  }
}

private object TimeColumnsSuite {

  /** A node that nobody has looked at. */
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
    ImposeOrder(UUID.randomUUID(), column, 5L, None, imposed = true, None, None, child)

  def delayed(column: Attribute, child: LogicalPlan): EventTimeWatermark = {
    val delay = IntervalUtils.stringToInterval(UTF8String.fromString("5 seconds"))
    EventTimeWatermark(UUID.randomUUID(), column, delay, child)
  }
}
