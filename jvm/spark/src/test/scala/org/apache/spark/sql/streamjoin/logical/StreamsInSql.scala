package org.apache.spark.sql.streamjoin.logical

import org.apache.spark.SparkConf
import org.apache.spark.sql.{classic, AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.StaticSQLConf
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.streamjoin.logical.resolve.analyzer.ResolveAwaitedJoin
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.test.SharedSparkSession

import io.streamjoin.StreamJoinExtensions

/**
 * Streams `o`, `d` and `x`, each with `id BIGINT, k BIGINT` and a time `ot`, `dt` or `xt` with
 * Spark's own watermark. `oi`, `di` and `xi` are the same streams with an imposed order. Queries
 * are planned, never run.
 */
trait StreamsInSql extends SharedSparkSession {

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    for (name <- Seq("o", "d", "x")) {
      val time = s"${name}t"
      spark.readStream.format("rate").load()
        .selectExpr("value AS id", "value % 3 AS k", s"timestamp AS $time")
        .withWatermark(time, "5 seconds")
        .createOrReplaceTempView(name)
      spark.sql(
        s"SELECT * FROM IMPOSE_ORDER(TABLE($name), DESCRIPTOR($time), INTERVAL '5' SECONDS)"
      ).createOrReplaceTempView(s"${name}i")
    }
  }

  protected def replacing[T](f: => T): T =
    withSQLConf(StreamJoinConf.ReplaceBuiltin.key -> "true")(f)

  /** The joins of an optimized query, nested, each with its bounded times: `ours` or `sparks`. */
  protected def joins(sql: String): String = joins(spark.sql(sql))

  protected def joins(df: DataFrame): String = described(optimized(df))

  /** The optimized plan with which the query would start. */
  protected def optimized(df: DataFrame): LogicalPlan = {
    val analyzed = df.asInstanceOf[classic.DataFrame].queryExecution.analyzed
    spark.sessionState.optimizer.execute(ResolveAwaitedJoin(analyzed.clone()))
  }

  /** Lists the times in each condition. In these tests, every bound is between two times. */
  private def described(plan: LogicalPlan): String = plan match {
    case j: StreamJoin => join("ours", j, Seq(j.condition.references.map(_.name)))
    case j: Join       => join("sparks", j, j.condition.toSeq.map(_.references.map(_.name)))
    case other         => other.children.map(described).filter(_.nonEmpty).mkString(" ")
  }

  private def join(whose: String, plan: LogicalPlan, names: Seq[Iterable[String]]): String = {
    val bounded = names.flatten.filter(_.endsWith("t")).distinct.sorted.mkString("-")
    val below = plan.children.map(described).filter(_.nonEmpty)
    (s"$whose($bounded" +: below).mkString(" ") + ")"
  }

  protected def refusal(sql: String): String =
    intercept[AnalysisException](spark.sql(sql)).getCondition.stripPrefix("STREAM_JOIN.")
}

object StreamsInSql {

  /** Bounds between two of the streams, by the first letter of their names. */
  def near(a: String, b: String, c: String = "4"): String =
    s"$b.${b.head}t BETWEEN $a.${a.head}t AND $a.${a.head}t + INTERVAL $c SECONDS"

  def meets(a: String, b: String): String = s"$a.k = $b.k"
}
