package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.physical.stateful.operator.JoinInputs
import org.apache.spark.sql.streamjoin.spark.{OffsetSeqMetadata, SparkFactories}

/** What an order in each partition requires from the plan below it. */
class StreamOrderExecSuite extends AnalysisSession {

  private def events(name: String): DataFrame =
    ordered(stream("value AS k", "timestamp AS t"), "t").as(name)

  private def executed(df: DataFrame): SparkPlan = SparkFactories.execution(
    session,
    planOf(df),
    OutputMode.Append,
    "<unknown>",
    0L,
    OffsetSeqMetadata(0, 0)
  ).executedPlan

  private lazy val join = joined(
    events("a"),
    events("b"),
    "a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"
  )

  test("the join below an order in each partition spreads no hot key") {
    def keepsKeys(df: DataFrame): Boolean =
      executed(df).collectFirst { case j: StreamJoinExec => j.spec.keepsKeys }.get
    assert(keepsKeys(join.sortWithinPartitions("b.t")))
    val computed = join.where("a.k + b.k > 3").selectExpr("b.t", "a.k + 1 AS n")
    assert(keepsKeys(computed.sortWithinPartitions("t")))
    assert(!keepsKeys(join))
    assert(!keepsKeys(join.orderBy("b.t")))
    assert(!keepsKeys(join.repartition(3, join("a.k")).sortWithinPartitions("b.t")))
  }

  test("rows that are repartitioned by a key are shuffled by this key alone") {
    def shuffles(df: DataFrame): Seq[Partitioning] =
      executed(df.sortWithinPartitions("t")).collect {
        case e if JoinInputs.isShuffle(e) => e.outputPartitioning
      }
    val rows = ordered(stream("value AS k", "value % 3 AS x", "timestamp AS t"), "t")
    val partitions = session.sessionState.conf.numShufflePartitions
    for {
      df <- Seq(
        rows.repartition(col("k")),
        rows.repartition(4, col("k")),
        rows.repartition(4, col("k")).selectExpr("t", "k", "x + 1 AS n").where("n > k"),
        rows.repartition(col("k")).select("t"),
        rows.repartition(4, col("k")).select("t"),
        ordered(stream("value AS k", "timestamp AS t").repartition(4, col("k")), "t"),
        join.select("a.k", "b.t").repartition(4, col("k"))
      )
    } shuffles(df).head match {
      case HashPartitioning(Seq(k: Attribute), n) => assert(k.name == "k" && n == partitions)
      case other                                  => fail(s"$other in ${executed(df)}")
    }
    assert(shuffles(rows.repartition(4, col("k")).select("t")).length == 1)
    // without a key, rows are spread by all columns
    assert(shuffles(rows.repartition(4)).head.numPartitions == partitions)
  }
}
