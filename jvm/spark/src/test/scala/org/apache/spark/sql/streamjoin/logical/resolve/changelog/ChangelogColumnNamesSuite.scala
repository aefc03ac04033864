package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin
import org.apache.spark.sql.streamjoin.spark.DataFrameJoins

/** Changelog joins by column names have the columns of Spark's joins, then the change columns. */
class ChangelogColumnNamesSuite extends AnalysisSession {

  private val Changes = Seq("_change_type", "_commit_version", "_commit_timestamp")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "value % 3 AS k", "value AS seq").createOrReplaceTempView("rows")
    for ((name, other) <- Seq("a" -> "x", "b" -> "y")) {
      session
        .sql("SELECT * FROM FROM_UPSERTS(TABLE(rows), DESCRIPTOR(id), DESCRIPTOR(seq))")
        .selectExpr("id", "k", s"seq AS $other", "_change_type")
        .createOrReplaceTempView(name)
      // a table with the same row columns
      session.range(3).selectExpr("id", "id % 3 AS k", s"id AS $other")
        .createOrReplaceTempView(s"table_$name")
    }
  }

  private val types = Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")

  test("JOIN USING has the columns of Spark's join, also by qualified names") {
    for (
      join <- types; what <- Seq("*", "a.*", "b.*", "id", "b.id", "a.id, b.id, b.k", "y, a.id + 1")
    )
      same(s"SELECT $what FROM %sa AS a $join %sb AS b USING (id)", what)
    for (join <- Seq("LEFT SEMI JOIN", "LEFT ANTI JOIN"); what <- Seq("*", "a.*", "id"))
      same(s"SELECT $what FROM %sa AS a $join %sb AS b USING (id, k)", what)
  }

  test("NATURAL JOIN compares the row columns, not the change columns") {
    for (join <- types; what <- Seq("*", "b.id", "a.*, b.k", "x, y"))
      same(s"SELECT $what FROM %sa AS a NATURAL $join %sb AS b", what)
    // with commit columns on both sides
    val deep = session.sql("SELECT * FROM a JOIN b USING (id, k)")
    deep.createOrReplaceTempView("deep")
    val twice = session.sql("SELECT * FROM deep AS d NATURAL JOIN deep AS e")
    assert(twice.columns.toSeq == Seq("id", "k", "x", "y") ++ Changes)
    val condition = planOf(twice).collectFirst { case j: ChangelogJoin => j.condition }.get
    assert(condition.references.map(_.name).toSet == Set("id", "k", "x", "y"))
  }

  test("columns of the input DataFrames are found above a join by column names") {
    val (a, b) = (session.table("a"), session.table("b"))
    val joined = a.join(b, Seq("id"), "left").select(b("id"), a("k"), b("y"))
    assert(joined.columns.toSeq == Seq("id", "k", "y"))
    // the change columns of an input are not in the output, nor aliases of those of the result
    for (column <- Seq(a("_change_type"), b("_change_type"))) {
      val refused = refusal(a.join(b, Seq("id")).select(b("id"), column))
      assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_CHANGELOG")
      assert(refused.getMessage.contains("Write _change_type without an alias"))
    }
  }

  /** The columns of a join. Spark 4.0 needs an operator above the join, see [[DataFrameJoins]]. */
  private def columnsOf(join: DataFrame): Seq[String] =
    (if (DataFrameJoins.castToJoin) join.select("*") else join).columns.toSeq

  test("DataFrame.join without another operator has the columns of the changelog join") {
    val (a, b) = (session.table("a").as("a"), session.table("b").as("b"))
    val both = Seq("id", "k", "x", "id", "k", "y") ++ Changes
    val twice = Seq("id", "k", "x", "id", "k", "x") ++ Changes
    assert(columnsOf(a.join(b, expr("a.id = b.k"))) == both)
    // another source, so that Spark does not replace the column ids
    val other = stream("value AS id", "value AS k", "value AS y", "'insert' AS op")
    val c = other.hint("from_changelog", "op=op").as("c")
    assert(columnsOf(a.join(c, expr("a.id = c.k"), "left")) == both)
    assert(columnsOf(a.join(c, a("id") === c("k"), "full")) == both)
    assert(columnsOf(a.join(c, a("id") === c("k"), "left_semi")) == both.take(3) ++ Changes)
    assert(columnsOf(a.join(b, Seq("id"))) == Seq("id", "k", "x", "k", "y") ++ Changes)
    assert(columnsOf(a.crossJoin(b)) == both)
    assert(columnsOf(a.join(a.as("d"), expr("a.id = d.k"))) == twice)
    assert(columnsOf(a.join(a, a("id") === a("id"))) == twice)
    val three = a.join(b, expr("a.id = b.k")).join(c, expr("a.id = c.k"))
    assert(columnsOf(three) == both.take(6) ++ both.drop(3))
  }

  test("column aliases of a query name the columns of its changelog join") {
    val columns = "(i, j, k, l, m, n, kind, version, time)"
    for (
      text <- Seq(
        s"SELECT * FROM (SELECT * FROM a JOIN b ON a.id = b.k) AS t$columns",
        s"SELECT t.* FROM (a JOIN b ON a.id = b.k) AS t$columns",
        s"WITH t$columns AS (SELECT * FROM a JOIN b ON a.id = b.k) SELECT * FROM t",
        s"SELECT * FROM (SELECT /*+ STREAM_JOIN(state_ttl => '1 day') */ * FROM a JOIN b ON a.id = b.k) AS t$columns"
      )
    ) {
      val df = session.sql(text)
      assert(df.columns.mkString("(", ", ", ")") == columns, text)
      assert(planOf(df).collectFirst { case j: ChangelogJoin => j }.nonEmpty, text)
    }
  }

  private def same(text: String, what: String): Unit = {
    val df = session.sql(text.format("", ""))
    assert(planOf(df).collectFirst { case j: Join => j }.isEmpty, text)
    val wanted = session.sql(text.format("table_", "table_"))
    assert(df.columns.filterNot(Changes.contains).toSeq == wanted.columns.toSeq, text)
    if (what == "*") assert(df.columns.takeRight(3).toSeq == Changes, text)
  }
}
