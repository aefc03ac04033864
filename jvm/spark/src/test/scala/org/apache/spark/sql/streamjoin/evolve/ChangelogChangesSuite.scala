package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal}
import org.apache.spark.sql.streamjoin.checkpoint._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, JoinType}
import io.streamjoin.placement.Routing

class ChangelogChangesSuite extends AnyFunSuite {

  private val stored = DescribedKind.Changelog(
    identity = Seq("left: key id", "right: key id"),
    condition = Seq("(left.id = right.id)", "(left.v < 5)"),
    inputs = Seq("left WHERE (v > 0)", "left.v = w"),
    filters = Seq("(v < 5)")
  )

  private def join(
      kind: DescribedKind.Changelog = stored,
      joinType: JoinType = JoinType.Inner,
      limits: Seq[String] = Nil,
      bounds: Seq[String] = Nil
  ) = JoinDescription(
    "segments",
    joinType,
    Routing.ByKey,
    Nil,
    DescribedTimes(
      Nil,
      bounds,
      BySide.of(_ => StoredTime("identity", LongType)),
      BySide.of(_ => limits.map(StoredTime(_, TimestampType))),
      Nil
    ),
    None,
    kind
  )

  /** A column of the left input, before and after. */
  private def column(before: Option[(String, DataType)], now: Option[(String, DataType)]) =
    ColumnChange(
      now.map { case (name, to) => AttributeReference(name, to)() },
      before.map { case (name, from) => StructField(name, from) },
      Literal(null),
      ""
    )

  private def refused(
      now: JoinDescription,
      left: Seq[ColumnChange] = Nil,
      renamed: String => String = identity
  ): Option[String] = ChangelogChanges.refused(join(), now, BySide(left, Nil), renamed)

  private def inputs(parts: String*) = join(stored.copy(inputs = parts))

  test("what stored rows were emitted by stays as it was") {
    val refusals = Seq(
      join(joinType = JoinType.LeftOuter) ->
        "the type of the changelog join was INNER, and is LEFT OUTER",
      join(stored.copy(identity = Seq("left: all columns, counted", "right: key id"))) ->
        ("the identity of rows was left: key id, right: key id, " +
          "and is left: all columns, counted, right: key id"),
      join(stored.copy(condition = Nil)) ->
        "the condition was (left.id = right.id), (left.v < 5), and is none",
      join(stored.copy(filters = Nil)) -> "the filter on its result was (v < 5), and is none",
      join(limits = Seq("left.t")) ->
        "the time by which rows leave was none, and is left.t, left.t",
      join(bounds = Seq("left.t >= right.t - 5")) ->
        "the bounds of event times was none, and is left.t >= right.t - 5"
    )
    for ((now, text) <- refusals) assert(refused(now).contains(text))
  }

  test("the order of conditions and filters has no effect") {
    assert(refused(join(stored.copy(condition = stored.condition.reverse))).isEmpty)
    assert(refused(inputs(stored.inputs.reverse: _*)).isEmpty)
  }

  test("a filter of an input is neither added nor removed") {
    assert(refused(inputs("left.v = w")).contains(
      "an expression of an input was or is left WHERE (v > 0)"
    ))
    assert(refused(inputs(stored.inputs :+ "right WHERE (v > 0)": _*)).contains(
      "an expression of an input was or is right WHERE (v > 0)"
    ))
  }

  test("an expression changes with its column, if that is added or removed") {
    val added = column(None, Some("x" -> IntegerType))
    val withX = inputs(stored.inputs :+ "left.x = (w + 1)": _*)
    assert(refused(withX, Seq(added)).isEmpty)
    assert(refused(withX).contains("an expression of an input was or is left.x = (w + 1)"))
    val removed = column(Some("v" -> IntegerType), None)
    assert(refused(inputs("left WHERE (v > 0)"), Seq(removed)).isEmpty)
  }

  test("the expression of a column that stays is a cast of it") {
    val wider = column(Some("n" -> IntegerType), Some("n" -> LongType))
    val withN = (value: String) => inputs(stored.inputs :+ s"left.n = $value": _*)
    assert(refused(withN("CAST(n AS BIGINT)"), Seq(wider)).isEmpty)
    assert(refused(withN("(n + 1L)"), Seq(wider)).nonEmpty)
    val of = column(Some("n" -> IntegerType), Some("m" -> LongType))
    assert(refused(inputs(stored.inputs :+ "left.m = CAST(n AS BIGINT)": _*), Seq(of)).isEmpty)
  }

  test("texts have the new names of columns") {
    val renamed = (text: String) => text.replaceAll("\\bv\\b", "u")
    val now = DescribedKind.Changelog(
      stored.identity,
      stored.condition.map(renamed),
      // the filter reads a column of the source
      Seq("left WHERE (v > 0)", "left.u = w"),
      stored.filters.map(renamed)
    )
    assert(refused(join(now), renamed = renamed).isEmpty)
    assert(refused(join(now)).nonEmpty)
  }
}
