package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streamjoin.PythonCalls
import org.apache.spark.sql.streamjoin.StreamJoinConf.StreamExchange

import io.streamjoin.PythonApi

/** The exchanges and sorts of a plan that are this project's. */
class PlanExchangesSuite extends PlannedChanges {
  import PlanExchangesSuite._

  private def exchanges(df: DataFrame): Seq[String] = nodes(df, Exchanges)

  private def sorts(df: DataFrame): Seq[String] = nodes(df, Sorts)

  /** Changes from another plan than [[changes]], because equal inputs have one exchange. */
  private def others(key: String): DataFrame = declared("value + 1 AS id", Seq(key))

  private def events(columns: String*): DataFrame =
    ordered(stream(columns :+ "timestamp AS t": _*), "t")

  private def turnedOff(test: => Unit): Unit = {
    session.conf.set(StreamExchange.key, "false")
    try test
    finally session.conf.unset(StreamExchange.key)
  }

  test("event-time joins by key and as-of joins use StreamExchange") {
    val (a, b) = (events("value AS id").as("a"), events("value % 3 AS id").as("b"))
    val timed = joined(a, b, s"a.id = b.id AND $Bounds", "left")
    assert(exchanges(timed) == Seq(Own, Own) && sorts(timed).isEmpty)
    val asOf = PythonApi.streamJoin(
      a,
      b,
      "a.id = b.id AND b.t <= a.t",
      "inner",
      java.util.Map.of("match", "last")
    )
    assert(exchanges(asOf) == Seq(Own, Own))
  }

  test("a chain of two joins by one key has three exchanges") {
    val below = joined(
      events("value AS id").as("a"),
      events("value % 3 AS id").as("b"),
      s"a.id = b.id AND $Bounds"
    ).selectExpr("a.id", "a.t").as("a")
    val chain = joined(below, events("value % 5 AS id").as("b"), s"a.id = b.id AND $Bounds")
    assert(exchanges(chain) == Seq.fill(3)(Own))
  }

  test("an input with two readers is exchanged once") {
    val events = this.events("value AS id")
    val (a, b) = (events.as("a"), events.as("b"))
    assert(exchanges(joined(a, b, s"a.id = b.id AND $Bounds")).count(_ == Own) == 1)
    val changed = together(changes("id"), changes("id"), "a.id = b.id", "left")
    assert(exchanges(changed) == Seq(Own, "ReusedExchange"))
  }

  test("an input that all tasks read is not exchanged by StreamExchange") {
    val (a, b) = (events("value AS id").as("a"), events("value % 3 AS id").as("b"))
    session.conf.set("spark.sql.streamJoin.timeBuckets", "false")
    try {
      val copied = exchanges(joined(a, b, s"a.id < b.id AND $Bounds"))
      assert(copied.toSet == Set(Own, "Exchange SinglePartition"))
    } finally session.conf.unset("spark.sql.streamJoin.timeBuckets")
    val changed = exchanges(together(changes(), changes(), "a.id < b.id", "inner"))
    assert(changed == Seq(Own, "Exchange SinglePartition"), changed)
  }

  test("StreamExchange sorts changes by the hash of their join key, also for normalization") {
    val one = together(changes("id"), others("id"), "a.id = b.id", "left")
    assert(exchanges(one) == Seq(Own, Own) && sorts(one) == Seq(Sorted, Sorted))
    val movedKey = together(changes("id"), others("id"), "a.k = b.id", "left")
    assert(exchanges(movedKey) == Seq.fill(4)(Own) && sorts(movedKey) == Seq.fill(4)(Sorted))
  }

  test("StreamExchange sorts the changes of a consolidated result") {
    val joined = together(changes("id"), others("id"), "a.id = b.id", "left")
    val consolidated = joined.selectExpr("a.k", "b.k AS other", "_change_type")
    assert(sorts(consolidated) == Seq.fill(3)(Sorted))
    assert(sorts(PythonCalls.toUpserts(
      consolidated,
      java.util.List.of("k")
    )) == Seq.fill(3)(Sorted))
  }

  test("append-only inputs are not sorted") {
    assert(sorts(together(
      stream("value AS id"),
      stream("value AS id"),
      "a.id = b.id",
      "inner"
    )).isEmpty)
  }

  test("with the setting off, joins use Spark's exchanges and sorts") {
    turnedOff {
      val (a, b) = (events("value AS id").as("a"), events("value % 3 AS id").as("b"))
      val timed = exchanges(joined(a, b, s"a.id = b.id AND $Bounds"))
      assert(timed == Seq.fill(2)("Exchange hashpartitioning"))
      val changed = together(changes("id"), others("id"), "a.id = b.id", "left")
      assert(exchanges(changed) == Seq.fill(2)("Exchange hashpartitioning"))
      assert(sorts(changed) == Seq.fill(2)("Sort "))
    }
  }
}

private object PlanExchangesSuite {
  val Bounds = "b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"
  val Own = "StreamExchange hashpartitioning"
  val Sorted = "sorted by"

  val Exchanges = """[+:]- (ReusedExchange|(?:Stream)?Exchange \w+)""".r
  val Sorts = """[+:]- (?:\*?(?:\(\d+\) )?(?=Sort )|StreamExchange .*, )(Sort |sorted by)""".r
}
