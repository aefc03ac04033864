package org.apache.spark.sql.streamjoin

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.StaticSQLConf
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin

import io.streamjoin.{PythonApi, StreamJoinExtensions}

/** A session with the extension that analyzes statements over streams and runs none. */
trait AnalysisSession extends AnyFunSuite with BeforeAndAfterAll {

  protected lazy val session: classic.SparkSession = classic.SparkSession
    .builder()
    .master("local[1]")
    .config("spark.ui.enabled", "false")
    .config(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)
    .getOrCreate()

  override protected def afterAll(): Unit =
    try session.stop()
    finally super.afterAll()

  /** A stream of expressions over the columns `timestamp` and `value` of the rate source. */
  protected def stream(columns: String*): DataFrame =
    session.readStream.format("rate").load().selectExpr(columns: _*)

  protected def ordered(df: DataFrame, column: String, lag: String = "1 minute"): DataFrame =
    PythonCalls.imposeOrder(df, column, java.util.Map.of("lag", lag))

  protected def joined(
      left: DataFrame,
      right: DataFrame,
      on: String,
      how: String = "inner"
  ): DataFrame = PythonApi.streamJoin(left, right, on, how, java.util.Map.of())

  protected def analyzed(text: String): LogicalPlan = planOf(session.sql(text))

  protected def planOf(df: DataFrame): LogicalPlan =
    df.asInstanceOf[classic.DataFrame].queryExecution.analyzed

  protected def isOurs(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[StreamJoin])

  protected def refusal(f: => Any): StreamJoinAnalysisException =
    intercept[StreamJoinAnalysisException](f)
}
