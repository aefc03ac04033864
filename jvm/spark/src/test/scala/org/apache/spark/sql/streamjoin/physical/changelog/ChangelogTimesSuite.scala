package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streamjoin.PythonCalls
import org.apache.spark.sql.streamjoin.checkpoint.formats.StateFormats
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.PythonApi
import io.streamjoin.model.Side

/** How the watermarks and bounds of a changelog join determine the eviction of its rows. */
class ChangelogTimesSuite extends PlannedChangelogs {

  private val noWords = java.util.Map.of[String, String]()

  private def source =
    stream("value AS id", "value % 3 AS k", "timestamp AS t", "'insert' AS op", "value AS seq")

  private def changes(df: DataFrame, key: String*): DataFrame =
    PythonCalls.fromChangelog(df, java.util.List.of(key: _*), "op", noWords, null)

  /** A watermark above the changelog declaration, one below it, and Spark's. */
  private def declared(key: String*): Seq[DataFrame] = Seq(
    ordered(changes(source, key: _*), "t"),
    changes(ordered(source, "t"), key: _*),
    changes(source.withWatermark("t", "1 minute"), key: _*),
    ordered(changes(source, key: _*).as("x"), "t")
  )

  /** A projection of the changelog. */
  private def chosen(df: DataFrame): DataFrame =
    df.selectExpr(
      "_change_type",
      "k",
      "t",
      "id"
    ).selectExpr("id", "k + 1 AS k", "t", "_change_type")

  private def joins(df: DataFrame): Seq[ChangelogJoin] =
    session.sessionState.optimizer.execute(planOf(df)).collect { case j: ChangelogJoin => j }

  private def only(df: DataFrame): ChangelogJoin = {
    val all = joins(df)
    assert(all.length == 1)
    all.head
  }

  private def spec(j: ChangelogJoin): ChangelogSpec =
    planned(j).spec

  private def join(left: DataFrame, right: DataFrame, on: String, options: (String, Any)*) =
    PythonApi.streamJoin(
      left.as("a"),
      right.as("b"),
      on,
      "left",
      java.util.Map.ofEntries(options.map { case (k, v) => java.util.Map.entry(k, v) }: _*)
    )

  private val Hour = "a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL 1 HOUR"

  test("with bounds on both inputs, rows are evicted, also from the normalization below") {
    for (left <- declared("id"); right <- declared()) {
      val all = joins(join(left, right, Hour))
      assert(all.length == 2)
      for (j <- all; s = spec(j)) {
        assert(s.leaving.exists && s.left.expiry.leaves.nonEmpty, s.words.explanation.lines)
        assert(s.words.forEver.isEmpty)
        assert(s.right.expiry.leaves.nonEmpty != j.normalizes)
        assert(s.words.explanation.lines.exists(_.contains("it can no longer change")))
      }
      val lines = spec(all.find(!_.normalizes).get).words.explanation.lines
      assert(lines.exists(_.contains("the latest b.t seen - 1 hour 1 minute")), lines)
      assert(
        lines.filter(_.startsWith("early results")) == Seq(
          "early results: a row of a without a match is emitted in its batch, and retracted by a " +
            "match, until it is evicted"
        )
      )
    }
  }

  test(
    "normalization below a projection evicts rows and uses the sequence"
  ) {
    val sequenced =
      PythonCalls.fromChangelog(source, java.util.List.of("id"), "op", noWords, "seq")
    val left = ordered(chosen(sequenced), "t")
    assert(left.columns.toSeq == Seq("id", "k", "t", "_change_type"))
    val all = joins(join(left, declared().head, Hour))
    assert(all.map(_.normalizes).sorted == Seq(false, true))
    for (j <- all; s = spec(j))
      assert(s.words.forEver.isEmpty && s.left.expiry.leaves.nonEmpty, s.words.explanation.lines)
    assert(all.find(_.normalizes).get.sequence(Side.Left).nonEmpty)
    val j = all.find(!_.normalizes).get
    assert(j.sequence(Side.Left).isEmpty && j.left.output.map(_.name).count(_ == "k") == 1)
  }

  test("normalization below a filter does not evict rows") {
    val left = ordered(changes(source, "id").where("k > 0"), "t")
    val images = joins(join(left, declared().head, Hour)).filter(_.normalizes)
    assert(images.length == 1 && spec(images.head).left.expiry.leaves.isEmpty)
  }

  test("with one bound, only the rows of one input are evicted") {
    val j = only(join(declared().head, declared().head, "a.k = b.k AND b.t >= a.t"))
    val s = spec(j)
    assert(s.left.expiry.leaves.isEmpty && s.right.expiry.leaves.nonEmpty && s.leaving.exists)
    assert(s.words.forEver == Seq("a row of a is stored until it is deleted: without limit"))
    assert(
      !s.words.explanation.lines.exists(_.startsWith("early results")),
      s.words.explanation.lines
    )
  }

  test("without bounds or watermarks, nothing is evicted and no time column is stored") {
    for (
      df <- Seq(
        join(declared().head, declared().head, "a.k = b.k"),
        join(declared().head, changes(source), Hour),
        join(changes(source), changes(source), Hour)
      );
      j <- joins(df.select("a.id", "_change_type"))
    ) {
      assert(j.times.isEmpty && !j.leaving.exists)
      assert(spec(j).words.forEver.length == 2)
      val names = j.children.flatMap(_.output).map(_.name)
      assert(names.count(_ == "t") == (if (j.condition.references.exists(_.name == "t")) 2 else 0))
    }
  }

  test(
    "state_ttl uses the event time of a side with a watermark, otherwise the time of the write"
  ) {
    for (left <- declared()) {
      val j = only(join(left, changes(source), "a.k = b.k", "state_ttl" -> "1 day"))
      val s = spec(j)
      assert(
        s.left.expiry.ttlTime.nonEmpty && s.left.expiry.ttlOfWrite.isEmpty && !s.left.stored.exists(
          _.name == ChangelogSide.Expires
        )
      )
      assert(s.right.expiry.ttlTime.isEmpty && s.right.expiry.ttlOfWrite.nonEmpty)
      assert(!s.leaving.exists)
      assert(
        s.words.explanation.lines.exists(_.contains("passes a.t + 1 day")),
        s.words.explanation.lines
      )
      assert(s.words.explanation.lines.exists(_.contains("1 day after its last write")))
    }
  }

  test("output times have watermarks for a join above") {
    val below =
      join(declared().head, declared().head, Hour).selectExpr("b.k", "b.t", "_change_type")
    val above = join(below, declared().head, Hour)
    val all = joins(above)
    assert(all.length == 2 && all.forall(_.leaving.exists))
    assert(all.forall(j => Side.both.forall(spec(j).side(_).expiry.leaves.nonEmpty)))
  }

  test("the description in the checkpoint has sources, bounds and limits") {
    val j = only(join(declared().head, declared().head, Hour))
    val json = DescribedChangelog.of(spec(j), StateFormats.of("segments")).json
    assert(json.contains("\"sources\":[\"t\",\"t\"]"), json)
    assert(json.contains("left.t >= right.t - 3600000000"), json)
    assert(json.contains("\"limits\":{\"left\":[{\"name\":\"left.t\""), json)
  }
}
