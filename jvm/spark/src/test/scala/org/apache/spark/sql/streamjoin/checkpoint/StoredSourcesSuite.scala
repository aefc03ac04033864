package org.apache.spark.sql.streamjoin.checkpoint

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.checkpoint.StoredSources.Moved
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException

/** Which changes of the sources of inputs exchange them. */
class StoredSourcesSuite extends AnyFunSuite {

  private val (left, right) = (InputPlace(0, "left"), InputPlace(0, "right"))

  private type Inputs = Map[InputPlace, Set[String]]

  private def join(l: String, r: String, operator: Long = 0): Inputs = {
    def sources(some: String) = some.split(' ').filter(_.nonEmpty).toSet
    Map(InputPlace(operator, "left") -> sources(l), InputPlace(operator, "right") -> sources(r))
  }

  private def goesOn(before: Inputs, now: Inputs): Unit =
    assert(StoredSources.moved(before, now).isEmpty)

  test("an exchange is refused, of both sides or of one source of a side") {
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

  test("other names, more or fewer sources, and one source for both sides go on") {
    goesOn(join("a", "b"), join("a", "b"))
    goesOn(join("a", "b"), join("c", "d"))
    goesOn(join("a", "b"), join("a", "c"))
    goesOn(join("a", "b"), join("a x", "b y"))
    goesOn(join("a x", "b y"), join("a", "b"))
    goesOn(join("a", "a"), join("a", "a"))
    goesOn(join("a", "b"), join("a", "a"))
    goesOn(join("a", "a"), join("a", "b"))
    goesOn(join("a", "b"), join("a b", "b"))
  }

  test("what is not known of an input says nothing") {
    goesOn(join("a", ""), join("", "a"))
    goesOn(Map.empty, join("b", "a"))
    goesOn(join("", ""), join("b", "a"))
    goesOn(join("a", "b"), join("b", ""))
  }

  test("inputs of two operators are exchanged, too") {
    val before = join("a", "b") ++ join("c", "d", operator = 1)
    val now = join("c", "b") ++ join("a", "d", operator = 1)
    val moved = StoredSources.moved(before, now)
    assert(moved.contains(Moved("c", InputPlace(1, "left"), left)))
    val orders: Inputs = Map(InputPlace(0, "input") -> Set("a"), InputPlace(1, "input") -> Set("b"))
    val swapped: Inputs =
      Map(InputPlace(0, "input") -> Set("b"), InputPlace(1, "input") -> Set("a"))
    assert(StoredSources.moved(orders, swapped).nonEmpty)
    goesOn(orders, orders)
  }

  test("of random inputs: what is moved has left one for another, and nothing else has") {
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
      // a name that was never there is no exchange
      val renamed = now.map { case (p, names) => p -> names.map(_ + "'") }
      goesOn(before, renamed)
      goesOn(before, before.map { case (p, names) => p -> (names + "new") })
      if (left.exists(came.contains)) refused += 1
    }
    assert(refused > 500)
  }

  private def described(l: String, r: String): Map[Long, String] = Map(
    0L -> JoinDescription.and(
      """{"format":"segments"}""",
      StoredSources.part(Seq("left" -> Seq(l), "right" -> Seq(r)))
    )
  )

  test("descriptions carry them, and an exchange is said in words") {
    assert(described("json /o", "json /d")(0).contains(
      """"origins":{"left":["json /o"],"right":["json /d"]}"""
    ))
    val e = intercept[StreamJoinRuntimeException](
      StoredSources.requireInPlace(
        "/c/state",
        described("json /o", "json /d"),
        described("json /d", "json /o")
      )
    )
    assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
    for (
      part <- Seq(
        "its inputs were exchanged: json /d was read by the right input and is now read by the left input",
        "Found: the left input from json /o; the right input from json /d.",
        "Expected: the left input from json /d; the right input from json /o.",
        "give the sources names that the checkpoint does not contain"
      )
    ) assert(e.getMessage.contains(part))
  }

  test("a description from before they were noted goes on") {
    val old = Map(0L -> """{"format":"segments","joinType":"INNER"}""")
    StoredSources.requireInPlace("/c/state", old, described("json /d", "json /o"))
  }
}
