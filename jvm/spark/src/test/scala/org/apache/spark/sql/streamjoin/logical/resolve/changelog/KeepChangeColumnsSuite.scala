package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.{functions, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogJoin, ChangelogMarks}

/** `df.na` and casts on all columns of a changelog. */
class KeepChangeColumnsSuite extends AnalysisSession {

  private def feed(key: String*): DataFrame = PythonCalls.fromChangelog(
    stream(
      "value AS id",
      "string(value) AS name",
      "'insert' AS op",
      "nullif(value, 0) AS _commit_version"
    ),
    java.util.List.of(key: _*),
    "op",
    java.util.Map.of(),
    null
  )

  private def changes(plan: LogicalPlan): Boolean = ChangelogMarks.areChanges(plan)

  private def result: DataFrame =
    joined(feed().alias("a"), feed("id").toDF("bid", "bname", "v", "_change_type"), "a.id = bid")

  private val all: Seq[DataFrame => DataFrame] = Seq(
    _.na.fill("none"),
    _.na.fill(0L),
    _.na.replace("*", Map("x" -> "y", "z" -> null)),
    _.na.replace("*", Map(1L -> 2L)),
    _.na.drop(),
    df => df.select(df.columns.toSeq.map(c => functions.col(c).cast("string").as(c)): _*),
    _.na.fill("none").na.fill(0L).na.drop("all")
  )

  test("df.na and casts on all columns of a changelog leave it a changelog") {
    for ((how, n) <- all.zipWithIndex; of <- Seq(feed(), feed("id"), result)) {
      val made = planOf(how(of))
      assert(changes(made), n)
      assert(made.output.map(_.name) == of.columns.toSeq, n)
      val above =
        joined(how(of).alias("l"), feed("id").toDF("i", "n", "v", "_change_type"), "l.id = i")
      assert(planOf(above).exists(_.isInstanceOf[ChangelogJoin]), n)
      PythonCalls.toUpserts(how(of), java.util.List.of("id"))
    }
  }

  test("df.na.drop tests the row columns only") {
    def tested(df: DataFrame): Set[String] =
      planOf(df).collectFirst { case f: Filter => f.condition.references.map(_.name).toSet }.get
    assert(tested(result.na.drop()) == result.columns.toSet -- Seq(
      "_change_type",
      "_commit_version",
      "_commit_timestamp"
    ))
    assert(tested(result.na.drop(Seq("name", "_change_type"))) == Set("name"))
    assert(tested(result.na.drop("all")).isEmpty)
  }

  test("a computed _change_type is no row kind, and the sink refuses the query") {
    assert(changes(planOf(result.selectExpr("id", "coalesce(_change_type, 'x') AS kind"))))
    for (
      how <- Seq[DataFrame => DataFrame](
        _.na.replace("_change_type", Map("insert" -> "new")),
        _.selectExpr("id", "upper(_change_type) AS _change_type"),
        _.selectExpr("id", "coalesce(name, _change_type) AS _change_type")
      )
    ) {
      assert(!changes(planOf(how(result))))
      val error = refusal(how(result).writeStream.format("noop").start())
      assert(error.getCondition == "STREAM_JOIN.CHANGE_TYPE_DROPPED")
      assert(error.getMessage.contains("Keep the column _change_type unchanged"), error.getMessage)
    }
  }
}
