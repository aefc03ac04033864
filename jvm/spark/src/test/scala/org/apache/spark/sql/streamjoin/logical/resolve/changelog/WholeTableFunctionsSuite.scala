package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.{functions, AnalysisException, DataFrame}
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

/** `df.na` and casts on all columns of a changelog, which include those that describe a change. */
class WholeTableFunctionsSuite extends AnalysisSession {

  private type Function = DataFrame => DataFrame

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

  private def result: DataFrame =
    joined(feed().alias("a"), feed("id").toDF("bid", "bname", "v", "_change_type"), "a.id = bid")

  private def all: Seq[DataFrame] = Seq(feed(), feed("id"), result)

  private def changes(df: DataFrame): Boolean = ChangelogMarks.areChanges(planOf(df))

  private def above(df: DataFrame): DataFrame =
    joined(df.alias("l"), feed("id").toDF("i", "n", "v", "_change_type"), "l.id = i")

  private def upserts(df: DataFrame): DataFrame = PythonCalls.toUpserts(df, java.util.List.of("id"))

  private def written(df: DataFrame): Unit = {
    val query = df.writeStream.format("noop").start()
    query.stop()
  }

  private def refused(condition: String, says: String, n: Any)(action: => Any): Unit = {
    val error: AnalysisException = refusal(action)
    assert(error.getCondition == s"STREAM_JOIN.$condition", n)
    assert(error.getMessage.contains(says), s"$n: ${error.getMessage}")
  }

  private val kindChanged: Seq[Function] = Seq(
    _.na.fill("none"),
    _.na.replace("*", Map("x" -> "y", "z" -> null)),
    _.na.replace("_change_type", Map("insert" -> "new")),
    df => df.select(df.columns.toSeq.map(c => functions.col(c).cast("string").as(c)): _*),
    _.selectExpr("id", "upper(_change_type) AS _change_type"),
    _.selectExpr("id", "coalesce(name, _change_type) AS _change_type")
  )

  test("a function that computes the row kind is refused at a sink, below a join and toUpserts") {
    for ((how, n) <- kindChanged.zipWithIndex; of <- all) {
      assert(!changes(how(of)), n)
      val instead = "Keep the column _change_type unchanged, and give a column that is computed " +
        "from it another name. In df.na and in casts, name the columns, as df.na.fill(value, " +
        "subset=[...])."
      refused("CHANGE_TYPE_DROPPED", instead, n)(written(how(of)))
      refused("CHANGE_TYPE_DROPPED", instead, n)(above(how(of)))
      refused("INVALID_CHANGELOG", "with the column _change_type", n)(upserts(how(of)))
    }
  }

  test("a function that computes the row kind is refused above toUpserts") {
    for ((how, n) <- kindChanged.zipWithIndex; of <- all)
      refused("CHANGE_TYPE_DROPPED", "Keep the column _change_type unchanged", n)(
        written(how(upserts(of)))
      )
  }

  test("df.na.drop that counts the row kind is refused") {
    val drops = Seq[Function](
      _.na.drop(),
      _.na.drop("all"),
      _.na.drop(2),
      _.na.drop(Seq("name", "_change_type"))
    )
    for ((how, n) <- drops.zipWithIndex; of <- all) {
      val instead = "df.na.drop(subset=[...]), with columns of the rows"
      refused("UNSUPPORTED_CHANGELOG", instead, n)(written(how(of)))
      refused("UNSUPPORTED_CHANGELOG", instead, n)(written(upserts(how(of))))
      refused("UNSUPPORTED_CHANGELOG", instead, n)(written(how(upserts(of))))
      refused("UNSUPPORTED_CHANGELOG", "depends on _change_type", n)(above(how(of)))
    }
  }

  test("a commit column that is computed below a join of rows without a key is refused") {
    val numbers = Seq[Function](_.na.fill(0L), _.na.replace("*", Map(1L -> 2L)))
    for ((how, n) <- numbers.zipWithIndex; of <- Seq(feed(), result))
      refused("UNSUPPORTED_CHANGELOG", "such as df.na.fill(value, subset=[...])", n)(above(how(of)))
    // with a key, the delete of a row has the values of the stored row
    for ((how, n) <- numbers.zipWithIndex)
      assert(planOf(above(how(feed("id")))).exists(_.isInstanceOf[ChangelogJoin]), n)
    for ((how, n) <- numbers.zipWithIndex; of <- all) {
      assert(changes(how(of)), n)
      written(how(of))
      written(upserts(how(of)))
    }
  }

  test("a function on columns of the rows leaves a changelog as it is") {
    val named = Seq[Function](
      _.na.fill("none", Seq("name")),
      _.na.replace("name", Map("x" -> "y")),
      _.na.drop(Seq("id", "name")),
      _.withColumn("name", functions.col("name").cast("binary"))
    )
    for ((how, n) <- named.zipWithIndex; of <- all) {
      assert(changes(how(of)), n)
      assert(planOf(above(how(of))).exists(_.isInstanceOf[ChangelogJoin]), n)
      written(how(of))
      written(upserts(how(of)))
    }
  }
}
