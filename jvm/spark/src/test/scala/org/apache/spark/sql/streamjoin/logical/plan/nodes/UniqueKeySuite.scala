package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.execution.FormattedMode
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}

import io.streamjoin.model.Side

/** The key that a join above infers for the result of a changelog join. */
class UniqueKeySuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    for (name <- Seq("a", "b", "c", "d")) {
      val rows = stream("value AS id", "value % 3 AS k", "timestamp AS t", "'insert' AS op")
      changelog(rows, "id").createOrReplaceTempView(name)
      changelog(rows.drop("t")).createOrReplaceTempView(s"counted_$name")
    }
  }

  private def changelog(rows: DataFrame, key: String*): DataFrame =
    PythonCalls.fromChangelog(rows, java.util.List.of(key: _*), "op", java.util.Map.of(), null)

  private def above(text: String): ChangelogJoin =
    planOf(session.sql(text)).collectFirst { case j: ChangelogJoin => j }.get

  /** The key of the left input of the uppermost join, by column names of the query. */
  private def key(text: String): Seq[String] = {
    val j = above(text)
    assert(j.of(Side.Left).inferred == j.key(Side.Left).nonEmpty)
    assert(j.sequence(Side.Left).isEmpty)
    j.key(Side.Left).map(_.name)
  }

  private def paired(how: String, on: String, columns: String = "a.id AS id, b.id AS other, a.k") =
    s"SELECT $columns, _change_type FROM a $how JOIN b ON $on"

  private def over(below: String, on: String = "x.k = c.id", how: String = "LEFT") =
    s"SELECT x.*, c.k AS ck FROM ($below) x $how JOIN c ON $on"

  test("the result has the key of the input whose rows match at most once") {
    for (how <- Seq("INNER", "LEFT"))
      assert(key(over(paired(how, "a.k = b.id"))) == Seq("id"), how)
    for (how <- Seq("INNER", "RIGHT"))
      assert(key(over(paired(how, "a.id = b.k"))) == Seq("other"), how)
    for (how <- Seq("LEFT SEMI", "LEFT ANTI"))
      assert(key(over(paired(how, "a.k = b.k", "a.id, a.k"))) == Seq("id"), how)
  }

  test("the result has the keys of both inputs if their rows match several times") {
    assert(key(over(paired("INNER", "a.k = b.k"))) == Seq("id", "other"))
    assert(key(over(paired("INNER", "a.id < b.id"))) == Seq("id", "other"))
  }

  test("the result has no key if a key column may be padded") {
    assert(key(over(paired("LEFT", "a.k = b.k"))) == Nil)
    assert(key(over(paired("FULL", "a.id = b.id"))) == Nil)
    assert(key(over(paired("RIGHT", "a.k = b.k"))) == Nil)
  }

  test("the result has no key if an input has none or the query drops a key column") {
    assert(key(over(paired("LEFT", "a.k = b.id", "a.k"))) == Nil)
    assert(key(over(paired("LEFT", "a.k = b.id", "a.id + 1 AS id, a.k"))) == Nil)
    assert(key(over(paired("INNER", "a.k = b.k", "a.id, a.k"))) == Nil)
    assert(key(over(paired("LEFT", "a.k = b.id").replace("FROM a", "FROM counted_a a"))) == Nil)
    assert(key(over(paired("LEFT", "a.k = b.id").replace("JOIN b", "JOIN counted_b b"))) == Nil)
  }

  test("the result has no key if input rows are evicted, or expire without a delete") {
    // a key may arrive again while its old row is still in the result
    def hinted(options: String) =
      paired("LEFT", "a.k = b.id").replace("SELECT", s"SELECT /*+ STREAM_JOIN($options) */")
    assert(key(over(hinted("mode => 'changelog'"))) == Seq("id"))
    assert(key(over(hinted("state_ttl => map('right', '1 day')"))) == Nil)
    val retracted = "state_ttl => map('right', '1 day'), on_expiry => 'retract'"
    assert(key(over(hinted(retracted))) == Seq("id"))
    val timed = "SELECT a.id, b.id AS other, a.k, _change_type FROM " +
      "IMPOSE_ORDER(TABLE(a), DESCRIPTOR(t), INTERVAL '1' MINUTE) a JOIN " +
      "IMPOSE_ORDER(TABLE(b), DESCRIPTOR(t), INTERVAL '1' MINUTE) b ON a.id = b.id " +
      "AND a.t BETWEEN b.t AND b.t + INTERVAL '1' HOUR"
    assert(key(over(timed)) == Nil)
    assert(UniqueKey.ofTable(analyzed(timed)).map(_.name) == Seq("id"))
  }

  test("the key is inferred through aliases, filters, views and further joins") {
    val chain = over(paired("LEFT", "a.k = b.id"), "x.id = c.id")
    session.sql(
      s"SELECT id AS number, upper(CAST(k AS STRING)) AS k, _change_type FROM ($chain) WHERE k > 1"
    ).createOrReplaceTempView("numbered")
    val text = "SELECT n.*, d.k AS dk FROM numbered n JOIN d ON n.number = d.id"
    assert(key(text) == Seq("number"))
    val j = above(text)
    assert(j.oneAKey(Side.Left))
    assert(j.outputKey.map(_.map(_.name)) == Some(Seq("number")))
    assert(!above(over(paired("LEFT", "a.k = b.id"))).oneAKey(Side.Left))
  }

  test("toUpserts without a key infers it from the join, or is refused") {
    def upserts(text: String) =
      planOf(PythonCalls.toUpserts(session.sql(text), java.util.List.of())).collectFirst {
        case u: ToUpserts => u.key.map(_.name)
      }.get
    assert(upserts(paired("LEFT", "a.k = b.id", "a.id AS number, b.k")) == Seq("number"))
    val error = intercept[AnalysisException](upserts(paired("FULL", "a.id = b.id")))
    assert(error.getCondition == "STREAM_JOIN.INVALID_CHANGELOG")
  }

  test("no key is inferred through UNION ALL or a generator") {
    val one = paired("LEFT", "a.k = b.id")
    val union = session.sql(s"$one UNION ALL $one")
    assert(UniqueKey.of(planOf(union)) == Nil)
    val some = session.sql(s"SELECT x.* FROM ($one) x LATERAL VIEW explode(sequence(1, 2)) e AS v")
    assert(UniqueKey.of(planOf(some)) == Nil)
  }

  private def explained(text: String): String =
    session.sessionState.executePlan(analyzed(text)).explainString(FormattedMode)

  test("explain names the inferred key and the output key of both joins") {
    val text = explained(over(paired("LEFT", "a.id = b.id"), "x.id = c.id"))
    assert(
      text.contains(
        "rows of x are identified by key id of the join below, one row for each join key"
      ),
      text
    )
    assert(text.linesIterator.count(_.contains("+- output key: id")) == 2, text)
  }

  test("a change of the join key is an update by the inferred key, and none without a key") {
    def above(below: String) =
      explained(s"SELECT x.id, c.k AS ck, _change_type FROM ($below) x LEFT JOIN c ON x.k = c.id")
    val keyed = above(paired("LEFT", "a.k = b.id"))
    assert(keyed.contains("Consolidate by id"), keyed)
    assert(keyed.contains("two images of one key (id) are emitted as an update"), keyed)
    val other = above(paired("LEFT", "a.k = b.k"))
    assert(other.contains("output key: none is known; changes are emitted as insert and delete"))
    assert(!other.contains("are emitted as an update"), other)
  }
}
