package org.apache.spark.sql.streamjoin.checkpoint

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.checkpoint.StoredSources.{Moved, Shifted}
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.sql.streamjoin.logical.plan.analysis.InputSource

/** Which changes of the sources of inputs are exchanges. */
class StoredSourcesSuite extends AnyFunSuite {

  private val (left, right) = (InputPlace(0, "left"), InputPlace(0, "right"))

  private type Inputs = Map[InputPlace, Set[String]]

  private def join(l: String, r: String, operator: Long = 0): Inputs = {
    def sources(some: String) = some.split(' ').filter(_.nonEmpty).toSet
    Map(InputPlace(operator, "left") -> sources(l), InputPlace(operator, "right") -> sources(r))
  }

  private def assertAccepted(before: Inputs, now: Inputs): Unit =
    assert(StoredSources.moved(before, now).isEmpty)

  test("an exchange of both sides or of one source of a side is found") {
    assert(StoredSources.moved(join("a", "b"), join("b", "a")).contains(Moved("b", right, left)))
    assert(StoredSources.moved(join("a", "b"), join("b", "c")).contains(Moved("b", right, left)))
    assert(StoredSources.moved(
      join("a x", "b"),
      join("a", "b x")
    ).contains(Moved("x", left, right)))
    assert(StoredSources.moved(
      join("a b", "c"),
      join("a c", "b")
    ).contains(Moved("c", right, left)))
  }

  test("other names, more or fewer sources, and one source for both sides are accepted") {
    assertAccepted(join("a", "b"), join("a", "b"))
    assertAccepted(join("a", "b"), join("c", "d"))
    assertAccepted(join("a", "b"), join("a", "c"))
    assertAccepted(join("a", "b"), join("a x", "b y"))
    assertAccepted(join("a x", "b y"), join("a", "b"))
    assertAccepted(join("a", "a"), join("a", "a"))
    assertAccepted(join("a", "b"), join("a", "a"))
    assertAccepted(join("a", "a"), join("a", "b"))
    assertAccepted(join("a", "b"), join("a b", "b"))
  }

  test("an input without known sources is accepted") {
    assertAccepted(join("a", ""), join("", "a"))
    assertAccepted(Map.empty, join("b", "a"))
    assertAccepted(join("", ""), join("b", "a"))
    assertAccepted(join("a", "b"), join("b", ""))
  }

  test("an exchange of inputs of two operators is found") {
    val before = join("a", "b") ++ join("c", "d", operator = 1)
    val now = join("c", "b") ++ join("a", "d", operator = 1)
    val moved = StoredSources.moved(before, now)
    assert(moved.contains(Moved("c", InputPlace(1, "left"), left)))
    val orders: Inputs = Map(InputPlace(0, "input") -> Set("a"), InputPlace(1, "input") -> Set("b"))
    val swapped: Inputs =
      Map(InputPlace(0, "input") -> Set("b"), InputPlace(1, "input") -> Set("a"))
    assert(StoredSources.moved(orders, swapped).nonEmpty)
    assertAccepted(orders, orders)
  }

  test("random inputs have an exchange exactly if a source left one input for another") {
    val random = new Random(7)
    val places = Seq(left, right, InputPlace(1, "input"))
    def drawn(): Inputs = places.map { p =>
      p -> Seq("a", "b", "c", "d").filter(_ => random.nextInt(3) == 0).toSet
    }.toMap
    var refused = 0
    for (_ <- 1 to 5000) {
      val (before, now) = (drawn(), drawn())
      val known = places.filter(p => before(p).nonEmpty && now(p).nonEmpty)
      val left = for (p <- known; s <- before(p) -- now(p)) yield s
      val came = for (p <- known; s <- now(p) -- before(p)) yield s
      assert(StoredSources.moved(before, now).nonEmpty == (left.toSet & came.toSet).nonEmpty)
      // a new name is no exchange
      val renamed = now.map { case (p, names) => p -> names.map(_ + "'") }
      assertAccepted(before, renamed)
      assertAccepted(before, before.map { case (p, names) => p -> (names + "new") })
      if (left.exists(came.contains)) refused += 1
    }
    assert(refused > 500)
  }

  test("a source is shifted if it moves to another position") {
    def shifted(before: String, now: String) = {
      def each(sources: String) = sources.split(' ').toSeq.map(_.split(',').toSeq)
      StoredSources.shifted(each(before), each(now))
    }
    assert(shifted("a b c", "b a c").contains(Shifted("a", 0, 1)))
    assert(shifted("a b", "x a").contains(Shifted("a", 0, 1)))
    assert(shifted("a x b", "a b").contains(Shifted("b", 2, 1)))
    assert(shifted("a a b", "a b a").contains(Shifted("a", 1, 2)))
    assert(shifted("t,u v", "t u,v").contains(Shifted("u", 0, 1)))
    for (now <- Seq("a b", "a c", "a b c", "a", "x y", "a b,c", "b,a b"))
      assert(shifted("a b", now).isEmpty, now)
    assert(shifted("a,b c", "b,a c").isEmpty)
    assert(shifted("a a b", "a a b").isEmpty)
  }

  /**
   * The description of a query with one join. A source is written `location` or `name@location`.
   */
  private def described(l: String, r: String): Map[Long, String] = {
    def sources(all: String) = all.split(';').toSeq.map {
      case s"$name@$location" => InputSource(Some(name), Seq(location))
      case location           => InputSource(None, Seq(location))
    }
    val part = StoredSources.part(Seq("left" -> sources(l), "right" -> sources(r)))
    Map(0L -> JoinDescription.and("""{"format":"segments"}""", part))
  }

  private type Described = Map[Long, String]

  private def accepted(before: Described, now: Described, byName: Boolean = false): Unit =
    StoredSources.requireInPlace("/c/state", before, now, byName)

  private def refused(
      before: Described,
      now: Described,
      byName: Boolean = false
  ): StreamJoinRuntimeException =
    intercept[StreamJoinRuntimeException](accepted(before, now, byName))

  test("sources in another order are refused if Spark finds offsets by order") {
    val before = described("json /a;json /b", "json /c")
    val now = described("json /b;json /a", "json /c")
    val e = refused(before, now)
    assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
    for (
      part <- Seq(
        "its sources have another order, and Spark finds their offsets by this order: json /a " +
          "was number 1 and is now number 2",
        "Found: the left input from json /a, json /b; the right input from json /c.",
        "Expected: the left input from json /b, json /a; the right input from json /c.",
        "Restore the order of the sources"
      )
    ) assert(e.getMessage.contains(part))
    accepted(before, before)
    accepted(before, described("json /a;json /x", "json /y"))
    accepted(before, described("json /a;json /b", "json /c;json /d"))
    refused(before, described("json /a", "json /c"))
    refused(before, described("json /x;json /a;json /b", "json /c"))
  }

  test("named sources are compared by name or by order, as the checkpoint requires") {
    val before = described("x@json /a;y@json /b", "z@json /c")
    val now = described("y@json /b;x@json /a", "z@json /c")
    accepted(before, now, byName = true)
    assert(refused(before, now).getMessage.contains("source x was number 1 and is now number 2"))
    accepted(before, described("x@json /b;y@json /a", "z@json /d"))
    refused(before, described("z@json /a;y@json /b", "x@json /c"), byName = true)
  }

  test("sources are compared by location if only one run has names") {
    val before = described("json /a;json /b", "json /c")
    accepted(before, described("x@json /a;y@json /b", "z@json /c"))
    refused(before, described("x@json /b;y@json /a", "z@json /c"))
    assert(refused(before, described("x@json /c;y@json /b", "z@json /a")).getMessage.contains(
      "its inputs were exchanged"
    ))
  }

  test("descriptions contain the sources, and a refusal names the exchanged ones") {
    assert(described("json /o", "x@json /d")(0).contains(
      """"origins":{"left":[{"at":["json /o"]}],"right":[{"name":"x","at":["json /d"]}]}"""
    ))
    val e = refused(described("json /o", "json /d"), described("json /d", "json /o"))
    assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
    for (
      part <- Seq(
        "its inputs were exchanged: json /d was read by the right input and is now read by the left input",
        "Found: the left input from json /o; the right input from json /d.",
        "Expected: the left input from json /d; the right input from json /o.",
        "give them names that the checkpoint does not contain"
      )
    ) assert(e.getMessage.contains(part))
  }

  test("a description without sources is accepted") {
    val old = Map(0L -> """{"format":"segments","joinType":"INNER"}""")
    accepted(old, described("json /d", "json /o"))
  }
}
