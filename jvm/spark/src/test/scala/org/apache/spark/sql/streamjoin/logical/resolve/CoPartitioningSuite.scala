package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin
import org.apache.spark.sql.streamjoin.physical.eventtime.MemoryKafka

import io.streamjoin.PythonApi

/** Which joins may be co_partitioned, and what may stand above them. */
class CoPartitioningSuite extends AnalysisSession {

  private def topic(alias: String, more: String*): DataFrame = {
    val columns = Seq(
      "key",
      "CAST(key AS STRING) AS k",
      "CAST(value AS BIGINT) AS id",
      "CAST(value AS DOUBLE) AS d",
      "CAST(value AS TIMESTAMP) AS t"
    ) ++ more
    val rows = session.readStream.format(classOf[MemoryKafka].getName)
      .option("subscribe", alias).load().selectExpr(columns: _*)
    ordered(rows, "t").alias(alias)
  }

  private val bounds = "b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"

  private def coPartitioned(
      left: DataFrame,
      right: DataFrame,
      on: String,
      how: String = "inner",
      options: Map[String, Any] = Map.empty
  ): DataFrame = {
    val all = new java.util.HashMap[String, Any]
    (options + ("co_partitioned" -> true)).foreach { case (name, value) => all.put(name, value) }
    PythonApi.streamJoin(left, right, on, how, all)
  }

  private def said(f: => Any): String = {
    val e = refusal(f)
    assert(e.getCondition == "STREAM_JOIN.UNSUPPORTED_CO_PARTITIONING", e)
    e.getMessage
  }

  test("keys that Kafka writes") {
    for (key <- Seq("a.key = b.key", "a.k = b.k", "a.id = b.id", "CAST(a.id AS STRING) = b.k"))
      assert(isOurs(planOf(coPartitioned(topic("a"), topic("b"), s"$key AND $bounds"))), key)
  }

  test("an equality of another type is a key of the lookup alone") {
    coPartitioned(topic("a"), topic("b"), s"a.k = b.k AND a.d = b.d AND $bounds")
  }

  test("no equality, none of a type that is written, several, and one that lets NULL meet") {
    def on(key: String) = said(coPartitioned(topic("a"), topic("b"), s"$key AND $bounds"))
    assert(on("a.d > b.d").contains("there is no equality"))
    assert(on("a.d = b.d").contains("found (a.d = b.d) of type DOUBLE"))
    assert(on("a.k = b.k AND a.id = b.id").contains("a.k = b.k, a.id = b.id"))
    assert(on("a.k <=> b.k").contains("rows without a key"))
    assert(on("a.k COLLATE UTF8_LCASE = b.k COLLATE UTF8_LCASE").contains("of type STRING COLLATE"))
  }

  test("inputs that are no topics, or whose rows have been moved") {
    def right(df: DataFrame) = said(coPartitioned(topic("a"), df, s"a.k = b.k AND $bounds"))
    val rate = ordered(stream("CAST(value AS STRING) AS k", "timestamp AS t"), "t").alias("b")
    assert(right(rate).contains("they come from the source rate"))
    assert(right(topic("b").repartition(3)).contains("Repartition"))
    val united = ordered(topic("x").select("k", "t").union(topic("y").select("k", "t")), "t")
    assert(right(united.alias("b")).contains("Union"))
    val shuffled =
      joined(topic("b"), topic("c"), "b.k = c.k AND c.t BETWEEN b.t AND b.t + INTERVAL '1' HOUR")
    assert(right(shuffled.select(
      "b.k",
      "b.t"
    ).alias("b")).contains("a join without co_partitioned"))
    val table = session.range(3).selectExpr("CAST(id AS STRING) AS name")
    assert(right(topic("b").join(table, expr("k = name"))).contains("Join"))
  }

  test("columns, filters and a join of the same kind in between") {
    val filtered = topic("a").where("id > 3").withColumn("x", expr("id + 1")).alias("a")
    val lower = coPartitioned(filtered, topic("b"), s"a.k = b.k AND $bounds", "left")
    val upper = coPartitioned(
      lower,
      topic("c"),
      "a.k = c.k AND c.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR",
      "left"
    )
    assert(planOf(upper).collect { case j: StreamJoin => j.options.coPartitioned } == Seq(
      true,
      true
    ))
  }

  test("what goes by exact watermarks above is refused, an aggregation of Spark's is not") {
    val lower = coPartitioned(topic("a"), topic("b"), s"a.k = b.k AND $bounds", "left")
    def after(on: String) = s"$on AND c.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"
    val batchLater = "whose rows may come out a batch later"
    assert(said(joined(lower, topic("c"), after("a.id = c.id"))).contains(batchLater))
    assert(said(planOf(lower.orderBy("a.t"))).contains(batchLater))
    assert(said(PythonApi.streamJoin(
      lower,
      topic("c"),
      "a.k = c.k AND c.t <= a.t",
      "inner",
      java.util.Map.of("match", "last")
    )).contains(batchLater))
    planOf(lower.groupBy("a.t").count())
  }

  test("options of other joins") {
    def with_(option: (String, Any)) = refusal(
      coPartitioned(topic("a"), topic("b"), s"a.k = b.k AND b.t <= a.t", options = Map(option))
    )
    assert(with_("match" -> "last").getCondition == "STREAM_JOIN.UNSUPPORTED_AS_OF")
    assert(with_("mode" -> "changelog").getCondition == "STREAM_JOIN.INVALID_OPTION")
    val e = refusal(PythonApi.streamJoin(
      topic("a"),
      topic("b"),
      bounds,
      "inner",
      java.util.Map.of("co_partitioned", "perhaps")
    ))
    assert(e.getMessage.contains("co_partitioned is true or false, not 'perhaps'"))
  }

  test("in SQL it is an option of the hint") {
    topic("a").createOrReplaceTempView("a")
    topic("b").createOrReplaceTempView("b")
    for (option <- Seq("co_partitioned => true", "'co_partitioned=true'")) {
      val plan =
        analyzed(s"SELECT /*+ STREAM_JOIN($option) */ a.k FROM a JOIN b ON a.k = b.k AND $bounds")
      assert(plan.collect { case j: StreamJoin => j.options.coPartitioned } == Seq(true))
    }
  }
}
