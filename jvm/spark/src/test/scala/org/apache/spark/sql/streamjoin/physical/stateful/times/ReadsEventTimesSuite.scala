package org.apache.spark.sql.streamjoin.physical.stateful.times

import java.util.UUID

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.Range
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/** Event times are recorded equally with and without generated code. */
class ReadsEventTimesSuite extends AnalysisSession {

  /** Numbers 0 to 9 as a time, NULL below 2. */
  private def times(dataType: DataType): ProjectExec = {
    session
    val range = RangeExec(Range(0, 10, 1, 1))
    val number = range.output.head
    val time = If(LessThan(number, Literal(2L)), Literal(null, dataType), cast(number, dataType))
    ProjectExec(Seq(number, Alias(time, "t")()), range)
  }

  private def cast(number: Attribute, dataType: DataType) = dataType match {
    case DateType         => DateFromUnixDate(Cast(number, IntegerType))
    case TimestampNTZType => Cast(Cast(number, TimestampType), TimestampNTZType, Some("UTC"))
    case other            => Cast(number, other, Some("UTC"))
  }

  private def imposed(below: SparkPlan, latest: Long, rejects: Boolean): ImposeOrderExec =
    ImposeOrderExec(UUID.randomUUID(), below.output.last, 0, Nil, latest, rejects, below)

  private def numbers(plan: SparkPlan): Seq[Long] =
    plan.execute().map(_.getLong(0)).collect().toSeq

  /** Runs a node without and with generated code, and checks its rows and what it recorded. */
  private def both[N <: SparkPlan](make: => N)(check: (Seq[Long], N) => Unit): Unit = {
    val alone = make
    check(numbers(alone), alone)
    val node = make
    val loop = CollapseCodegenStages()(node)
    assert(loop.collect { case w: WholeStageCodegenExec => w }.length == 1)
    check(numbers(loop), node)
  }

  for (
    (dataType, unit) <- Seq(
      LongType -> 1L,
      IntegerType -> 1L,
      ShortType -> 1L,
      ByteType -> 1L,
      DateType -> 1L,
      TimestampType -> 1000000L,
      TimestampNTZType -> 1000000L
    )
  )
    test(
      s"rows too far ahead do not raise the largest time, and are dropped or kept: ${dataType.sql}"
    ) {
      for (rejects <- Seq(true, false))
        both(imposed(times(dataType), 6 * unit, rejects)) { (rows, node) =>
          assert(rows == (0L to (if (rejects) 6L else 9L)))
          assert(node.eventTimeStats.value.max == 6 * unit && node.ahead == 3)
        }
    }

  test("in real-time mode, the latest accepted time counts from the end of the batch") {
    for ((dataType, latest) <- Seq(TimestampType -> 4000000L, DateType -> 5L)) {
      val order = imposed(times(dataType), latest, rejects = true).duringBatch(2000)
      both(order)((rows, _) => assert(rows == (0L to 6L)))
    }
  }

  test("Spark's watermark is capped by max_ahead, in one generated stage with the order") {
    def believed(below: SparkPlan) = new CappedWatermarkExec(
      UUID.randomUUID(),
      below.output.last,
      new CalendarInterval(0, 0, 0),
      below,
      6000000L,
      grouped = false
    )
    both(imposed(believed(times(TimestampType)), Long.MaxValue, rejects = true)) { (rows, node) =>
      assert(rows == (0L to 9L) && node.eventTimeStats.value.max == 9000000L)
      val spark = node.collect { case w: EventTimeWatermarkExec => w }.head.eventTimeStats.value
      assert(spark.max == 6000L && spark.min == 2000L && spark.count == 5)
    }
  }

  test("with groups, Spark's watermark follows the operator above, and without them the rows") {
    for (grouped <- Seq(true, false)) {
      def capped(below: SparkPlan) = new CappedWatermarkExec(
        UUID.randomUUID(),
        below.output.last,
        new CalendarInterval(0, 0, 0),
        below,
        Long.MaxValue,
        grouped
      )
      both(capped(times(TimestampType))) { (rows, node) =>
        assert(rows == (0L to 9L))
        assert(node.eventTimeStats.value.count == (if (grouped) 0 else 8))
        node.advance(12000000L)
        assert(node.eventTimeStats.value.max == (if (grouped) 12000L else 9000L))
      }
    }
  }

  test("a group has its largest time, of all tasks, and a task has a limited number of groups") {
    val (one, other) = (new GroupMaxima("t", limit = 2), new GroupMaxima("t", limit = 2))
    for (time <- Seq(5L, 7L, 3L)) one.of("a").note(time)
    one.of("b").note(1)
    for (time <- Seq(6L, 2L)) other.of("a").note(time)
    other.of("c").note(4)
    one.merge(other)
    assert(one.value == Map("a" -> 7L, "b" -> 1L, "c" -> 4L))
    assert(other.of("a") != null)
    assert(intercept[SparkThrowable] {
      for (group <- Seq("d", "e")) other.of(group)
    }.getCondition == "STREAM_JOIN.TOO_MANY_WATERMARK_GROUPS")
  }

  test("the largest accepted time of each group is recorded") {
    def grouped(below: SparkPlan): ImposeOrderExec = {
      val number = below.output.head
      val third = Remainder(number, Literal(3L))
      val word = If(EqualTo(third, Literal(0L)), Literal(null, StringType), Literal("a, 'b"))
      val groups = Seq(Alias(word, "word")(), Alias(third, "third")())
      val input = ProjectExec(below.output ++ groups, below)
      ImposeOrderExec(
        UUID.randomUUID(),
        below.output.last,
        0,
        input.output.takeRight(2),
        latest = 7,
        rejects = true,
        input
      )
    }
    both(grouped(times(LongType))) { (rows, node) =>
      assert(rows == (0L to 7L))
      // 8 of group 2 is too far ahead, and 1 of group 1 has no time
      assert(node.arrived == Map("NULL, 0" -> 6L, "'a, ''b', 1" -> 7L, "'a, ''b', 2" -> 5L))
    }
  }

  test("names of different groups differ") {
    val values =
      Seq(Seq(None, Some("x")), Seq(Some("NULL"), Some("x")), Seq(Some(""), Some("x"))) ++
        Seq(
          Seq(Some("a, b"), Some("c")),
          Seq(Some("a"), Some("b, c")),
          Seq(Some("a', 'b"), Some("c"))
        ) ++
        Seq("x" * 300 + "1", "x" * 300 + "2", "é" * 90 + "\uD83D\uDE00" * 90).map(v =>
          Seq(Some(v))
        ) ++
        Seq("", "x").map(v => Seq(Some(v + "\uD83D\uDE00" * 100)))
    val names = values.map(GroupName.of)
    assert(names.distinct.length == values.length)
    assert(names.forall(name =>
      name.length < 250 && new String(name.getBytes("UTF-8"), "UTF-8") == name
    ))
  }

  test("texts that are not valid UTF-8 have different names") {
    val texts = Seq[Array[Byte]](Array(-1), Array(-2), Array(-61), "X'FF'".getBytes, "FF".getBytes)
    val name = new GroupName(Seq(StringType))
    val names = texts.map(t => name(InternalRow(UTF8String.fromBytes(t))))
    assert(names == Seq("X'FF'", "X'FE'", "X'C3'", "'X''FF'''", "FF"))
  }

  test("the order over a node without code generation is not wrapped in a generated stage") {
    val node = imposed(CoalesceExec(1, times(LongType)), 100, rejects = true)
    val plan = CollapseCodegenStages()(node)
    assert(plan.isInstanceOf[ImposeOrderExec] && numbers(plan) == (0L to 9L))
  }
}
