package org.apache.spark.sql.streamjoin.physical.stateful.shown

import java.sql.Timestamp

import org.apache.spark.sql.execution.streaming.runtime.{MemoryStream, StreamingQueryWrapper}
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.physical.stateful.TimedStreams

import io.streamjoin.PythonApi

/** The metrics of a batch in Spark's user interface, in the progress and in `explain`. */
class ShownCountsSuite extends TimedStreams {
  import testImplicits._

  private def started(left: Rows, right: Rows, folder: String, lag: String): StreamingQuery =
    PythonApi
      .streamJoin(
        input("a", left, lag),
        input("b", right, lag),
        "a.id = b.id AND b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR",
        "left",
        java.util.Map.of[String, Any]()
      )
      .selectExpr("a.id", "b.t")
      .writeStream
      .format("noop")
      .option("checkpointLocation", folder)
      .start()

  private def join(query: StreamingQuery): StreamJoinExec =
    query.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution.executedPlan.collect {
      case j: StreamJoinExec => j
    }.head

  /** The metrics of the join in the last batch, by name. */
  private def inUserInterface(query: StreamingQuery): Map[String, String] = {
    spark.sparkContext.listenerBus.waitUntilEmpty()
    val store = spark.sharedState.statusStore
    val (ids, metrics) = (
      join(query).metrics.map { case (name, metric) => metric.id -> name },
      store.executionsList().sortBy(_.executionId).reverseIterator
        .map(e => store.executionMetrics(e.executionId))
    )
    metrics
      .map(_.collect { case (id, value) if ids.contains(id) => ids(id) -> value })
      .find(_.nonEmpty)
      .getOrElse(Map.empty)
  }

  test("the user interface shows the sums over all tasks, equal to the progress") {
    val (a, b) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
    withTempDir { folder =>
      // added before the query starts, otherwise it would run two batches
      a.addData((1 to 40).map(_ -> at(0)))
      b.addData((1 to 30).map(_ -> at(5)))
      val query = started(a, b, folder.getCanonicalPath, "1 minute")
      try {
        query.processAllAvailable()
        val shown = inUserInterface(query)
        assert(shown("inputRowsLeft") == "40" && shown("inputRowsRight") == "30", shown)
        assert(shown("joinedRows") == "30" && shown("numOutputRows") == "30")
        assert(!shown.contains("lateRowsLeft"))
        assert(shown("stateMemory").startsWith("total (min, med, max"))
        val progress = query.lastProgress.stateOperators.head
        assert(progress.numRowsTotal == 70 && progress.customMetrics.get("joinedRows") == 30)
        assert(join(query).longMetric("inputRowsLeft").value == 40)
      } finally query.stop()
    }
  }

  test("explain of a running query shows its last batch, and after a restart the new lag") {
    val (a, b) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
    def explained(query: StreamingQuery) = {
      val lines = join(query).innerChildren.map(_.simpleString(100))
      lines.collectFirst { case Seen(rows, lag) => rows.toInt -> lag }
    }
    withTempDir { folder =>
      def run(lag: String)(batches: (() => Unit)*): Seq[(Int, String)] = {
        val query = started(a, b, folder.getCanonicalPath, lag)
        try batches.flatMap { add =>
            add()
            query.processAllAvailable()
            explained(query)
          }
        finally query.stop()
      }
      val first = run("1 minute")(
        // the first batch has no earlier rows to be behind
        () => { a.addData(1 -> at(10), 1 -> at(11)); () },
        () => { a.addData(1 -> at(10), 1 -> at(11)); () },
        () => { a.addData(1 -> at(10), 1 -> at(11), 1 -> at(12)); () }
      )
      val second = run("3 minutes")(() => { a.addData(1 -> at(11)); () })
      assert(first.length == 2 && first.map(_._2).distinct == Seq("1 minute") && second.map(
        _._2
      ) == Seq("3 minutes"))
      val rows = (first ++ second).map(_._1)
      assert(rows == rows.distinct.sorted, rows)
    }
  }

  private val Seen = """lag of a.t: .* would have accepted .* (\d+) rows; now (.*)""".r
}
