package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.PythonApi
import io.streamjoin.model.Side

/** Options of a changelog join: in SQL, as hints of a DataFrame, and through the Python API. */
class ChangelogOptionsSuite extends AnalysisSession {

  private val Day = MICROS_PER_DAY
  private val Changes = Seq("_change_type", "_commit_version", "_commit_timestamp")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "value % 3 AS k").createOrReplaceTempView("a")
    stream("value AS id", "value % 3 AS k").createOrReplaceTempView("b")
    session
      .sql("SELECT * FROM FROM_UPSERTS(TABLE(a), DESCRIPTOR(id), DESCRIPTOR(id))")
      .createOrReplaceTempView("c")
  }

  private def join(df: DataFrame): ChangelogJoin =
    planOf(df).collectFirst { case j: ChangelogJoin if !j.normalizes => j }
      .getOrElse(fail(planOf(df).toString))

  private def ttl(df: DataFrame) = {
    def micros(side: Side) = join(df).ttl(side).map(_.micros)
    (micros(Side.Left), micros(Side.Right))
  }

  test("the hint mode => 'changelog' makes a changelog join and adds its columns to *") {
    val hint = "/*+ STREAM_JOIN(mode => 'changelog') */"
    for (
      (text, columns) <- Seq(
        s"SELECT $hint * FROM a JOIN b ON a.k = b.k" -> Seq("id", "k", "id", "k"),
        s"SELECT $hint * FROM a LEFT JOIN b USING (k)" -> Seq("k", "id", "id"),
        s"SELECT $hint * FROM a LEFT SEMI JOIN b USING (k)" -> Seq("k", "id"),
        s"SELECT $hint * FROM a x JOIN a y ON x.k = y.id" -> Seq("id", "k", "id", "k"),
        s"SELECT $hint * FROM c JOIN b ON c.k = b.k" -> Seq("id", "k", "id", "k")
      )
    ) {
      val df = session.sql(text)
      join(df)
      assert(df.columns.toSeq == columns ++ Changes, text)
    }
    val some = session.sql(s"SELECT $hint a.id, _change_type FROM a JOIN b ON a.k = b.k")
    join(some)
    assert(some.columns.toSeq == Seq("id", "_change_type"))
    val hinted = session.table("a").hint("stream_join", "mode=changelog")
    for (
      df <- Seq(
        hinted.join(session.table("b"), Seq("k"), "full"),
        hinted.join(session.table("a"), "id").select("*")
      )
    ) {
      join(df)
      assert(df.columns.takeRight(3).toSeq == Changes)
    }
  }

  test("state_ttl applies to both inputs or to one, and invalid values are refused") {
    def sql(value: String, inputs: String = "c JOIN b ON c.k = b.k") =
      session.sql(s"SELECT /*+ STREAM_JOIN(state_ttl => $value) */ * FROM $inputs")
    assert(ttl(sql("'1 day'")) == (Some(Day), Some(Day)))
    assert(ttl(sql("INTERVAL '2' DAY")) == (Some(2 * Day), Some(2 * Day)))
    assert(ttl(sql("'1500 microseconds'")) == (Some(1500), Some(1500)))
    assert(ttl(sql("\"INTERVAL '01:30' MINUTE TO SECOND\"")) == (Some(90000000), Some(90000000)))
    assert(ttl(sql("map('right', '30 days')")) == (None, Some(30 * Day)))
    assert(ttl(sql("MAP('left', INTERVAL 1 DAY, 'RIGHT', '2 days')", "c LEFT JOIN b USING (k)")) ==
      (Some(Day), Some(2 * Day)))
    val df = session.table("c").hint("stream_join", "state_ttl=left=1 day")
      .join(session.table("b"), "k").select("*")
    assert(ttl(df) == (Some(Day), None))
    for (wrong <- Seq("map('up', '1 day')", "map('left', 'a', 'left', 'b')", "true", "map()"))
      assert(refusal(sql(wrong)).getCondition == "STREAM_JOIN.INVALID_OPTION", wrong)
    for (wrong <- Seq("'1 month'", "'-1 day'", "map('left', 'soon')"))
      assert(refusal(sql(wrong)).getCondition == "STREAM_JOIN.INVALID_STATE_TTL", wrong)
  }

  test("the hint of a SELECT without a join applies to the sub-queries in its WHERE") {
    def sql(options: String, from: String, where: String) =
      session.sql(s"SELECT /*+ STREAM_JOIN($options) */ * FROM $from WHERE $where")
    val exists = "EXISTS (SELECT 1 FROM b WHERE b.id = x.k)"
    for (
      where <- Seq(exists, s"NOT $exists", s"x.id > 3 AND $exists", "k IN (SELECT id FROM b)");
      from <- Seq("c AS x", "(SELECT * FROM c) AS x")
    ) assert(
      ttl(sql("state_ttl => map('right', '1 day')", from, where)) == (None, Some(Day)),
      where
    )
    val both = planOf(sql("state_ttl => '1 day'", "c AS x", s"$exists AND k IN (SELECT id FROM b)"))
      .collect { case j: ChangelogJoin if !j.normalizes => j.ttl(Side.Left).map(_.micros) }
    assert(both == Seq(Some(Day), Some(Day)))
    // without a changelog the output has no change columns
    for (where <- Seq(exists, "x.id > 3", "x.id IN (1, 2)"))
      assert(refusal(sql("mode => 'changelog'", "a AS x", where)).getCondition ==
        "STREAM_JOIN.INVALID_OPTION")
  }

  test("mode and state_ttl apply through the Python API, also to a self-join") {
    def python(left: String, right: String, on: Any, options: (String, Any)*) =
      PythonApi.streamJoin(
        session.table(left).as("l"),
        session.table(right).as("r"),
        on,
        "left",
        java.util.Map.ofEntries(options.map { case (k, v) => java.util.Map.entry(k, v) }: _*)
      )
    for (
      (left, right) <- Seq("a" -> "b", "a" -> "a", "c" -> "c", "b" -> "c");
      on <- Seq[Any]("l.k = r.id", java.util.List.of("k"))
    ) {
      val df = python(left, right, on, "mode" -> "changelog", "state_ttl" -> "right=1 day")
      assert(ttl(df) == (None, Some(Day)), (left, right, on))
      assert(df.columns.takeRight(3).toSeq == Changes)
      assert(df.columns.count(_ == "_change_type") == 1)
    }
    // implied by a declared input
    assert(python("c", "b", "l.k = r.k").columns.takeRight(3).toSeq == Changes)
  }

  test("an option of the other mode, an unknown mode and a table are refused") {
    def condition(hint: String, text: String) =
      intercept[AnalysisException](session.sql(s"SELECT /*+ STREAM_JOIN($hint) */ * FROM $text"))
        .getCondition
    val on = "c JOIN b ON c.k = b.k"
    for (hint <- Seq("mode => 'event_time'", "late => 'emit'", "retention => '1 day'"))
      assert(condition(hint, on) == "STREAM_JOIN.INVALID_OPTION", hint)
    assert(condition("mode => 'changes'", on) == "STREAM_JOIN.INVALID_OPTION")
    ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView("o")
    val timed = "o JOIN o AS p ON o.k = p.k AND o.t = p.t"
    assert(condition("state_ttl => '1 day'", timed) == "STREAM_JOIN.INVALID_OPTION")
    session.sql(s"SELECT /*+ STREAM_JOIN(mode => 'event_time') */ * FROM $timed")
    session.range(3).createOrReplaceTempView("table")
    assert(condition("mode => 'changelog'", "a JOIN table ON a.id = table.id") ==
      "STREAM_JOIN.STATIC_INPUT")
  }
}
