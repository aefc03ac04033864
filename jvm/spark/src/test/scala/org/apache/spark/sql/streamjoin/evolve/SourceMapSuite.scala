package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.InputSource
import org.scalatest.funsuite.AnyFunSuite

class SourceMapSuite extends AnyFunSuite {

  private def topic(name: String) = InputSource(None, Seq(s"kafka $name"))
  private def named(name: String, at: String) = InputSource(Some(name), Seq(s"kafka $at"))

  private def map(
      before: Seq[Seq[InputSource]],
      now: Seq[InputSource],
      renamed: Map[String, Option[String]] = Map.empty,
      offsets: Int = 2,
      byName: Boolean = false
  ): SourceMap = SourceMap.of(before, offsets, now, renamed, byName)((subClass, parameters) =>
    StateErrors.rewrite(subClass, "there", parameters: _*)
  )

  private def refused(of: => SourceMap): String =
    intercept[StreamJoinAnalysisException](of).getCondition.stripPrefix("STREAM_JOIN_REWRITE.")

  private val both = Seq(Seq(topic("a"), topic("b")))

  test("offsets follow their sources to another place, and a new source has none") {
    val found = map(both, Seq(topic("c"), topic("b"), topic("a")))
    assert(found.offsets(Seq("{a}", "{b}")) == Seq("-", "{b}", "{a}"))
    assert(found.logs == Seq("1" -> "1", "0" -> "2"))
    assert(found.fromBeginning == Seq(topic("c")))
    assert(found.removed.isEmpty)
  }

  test("a removed source leaves no offset") {
    val found = map(both, Seq(topic("b")))
    assert(found.offsets(Seq("{a}", "{b}")) == Seq("{b}"))
    assert(found.removed == Seq(topic("a")))
  }

  test("another topic is a place of its own, and its offsets are not those of the earlier one") {
    val now = Seq(topic("a2"), topic("b"))
    assert(refused(map(both, now)) == "UNKNOWN_SOURCE")
    val found = map(both, now, Map("a2" -> Some("a")))
    assert(now.indices.map(found.placeOf) == Seq(0, 1))
    assert(found.offsets(Seq("{a}", "{b}")) == Seq("-", "{b}"))
    val added = map(both, now, Map("a2" -> None))
    assert(now.indices.map(added.placeOf) == Seq(SourceMap.New, 1))
  }

  test("a named source keeps its offset under another name") {
    val before = Seq(Seq(named("orders", "a"), named("payments", "b")))
    val now = Seq(named("payments", "b"), named("orders-v2", "a"))
    val found = map(before, now, Map("orders-v2" -> Some("orders")), byName = true)
    assert(found.offsets(Seq("payments:{b}", "orders:{a}")) == Seq("payments:{b}", "orders-v2:{a}"))
    assert(found.logs == Seq("payments" -> "payments", "orders" -> "orders-v2"))
  }

  test("a source that is read twice has two offsets") {
    val twice = Seq(topic("a"), topic("a"))
    assert(map(Seq(twice), twice).offsets(Seq("{1}", "{2}")) == Seq("{1}", "{2}"))
  }

  test("a source that is read once more is a new one beside a removed one") {
    val found = map(both, Seq(topic("a"), topic("a")))
    assert(found.offsets(Seq("{a}", "{b}")) == Seq("{a}", "-"))
    assert(found.removed == Seq(topic("b")))
  }

  test("an operator above another one has the sources of both") {
    val before = Seq(Seq(topic("a"), topic("b"), topic("c")), Seq(topic("a"), topic("b")))
    val found = map(before, Seq(topic("c"), topic("a"), topic("b")), offsets = 3)
    assert(found.offsets(Seq("{a}", "{b}", "{c}")) == Seq("{c}", "{a}", "{b}"))
    val twice = Seq(Seq(topic("a"), topic("a"), topic("b")), Seq(topic("a"), topic("a")))
    assert(map(twice, Seq(topic("b"), topic("a"), topic("a")), offsets = 3)
      .offsets(Seq("{1}", "{2}", "{b}")) == Seq("{b}", "{1}", "{2}"))
  }

  test("the order of sources beside all operators is known if the query has not changed it") {
    val now = Seq(topic("x"), topic("a"), topic("b"))
    assert(map(both, now, offsets = 3).offsets(Seq("1", "2", "3")) == Seq("1", "2", "3"))
    assert(refused(map(both, now :+ topic("y"), offsets = 3)) == "UNKNOWN_SOURCES")
    val other = Seq(topic("x"), topic("a"), topic("y"))
    assert(refused(map(both, other, offsets = 3)) == "UNKNOWN_SOURCES")
  }

  test("a name that fits no source is refused") {
    assert(refused(map(both, both.head, Map("z" -> Some("a")))) == "INVALID_ARGUMENT")
    assert(refused(map(both, both.head, Map("a" -> Some("z")))) == "INVALID_ARGUMENT")
    val orders = Seq(topic("orders"))
    for (part <- Seq("order", "rders", "kafka", "kafka order"))
      assert(refused(map(Seq(orders), orders, Map(part -> None), 1)) == "INVALID_ARGUMENT", part)
    for (name <- Seq("orders", "kafka orders"))
      assert(map(Seq(orders), orders, Map(name -> Some(name)), 1).from == Seq(Some(0)))
  }
}
