package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.{SparkThrowable, SparkUnsupportedOperationException}
import org.apache.spark.sql.{classic, AnalysisException}
import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.execution.command.ExplainCommand
import org.apache.spark.sql.streamjoin.AnalysisSession

/** Checks that each of many statements is planned, or refused without an internal error. */
trait SqlShapes extends AnalysisSession {

  /** Streams `o`, `d`, `e` of `id`, `k`, `t` with an order; a changelog `c`; a table `table`. */
  protected lazy val streams: Unit = {
    for (name <- Seq("o", "d", "e"))
      ordered(stream("value AS id", "value % 3 AS k", "timestamp AS t"), "t")
        .createOrReplaceTempView(name)
    session.sql(
      "SELECT * FROM FROM_UPSERTS(TABLE(d), key => DESCRIPTOR(id), sequence_by => DESCRIPTOR(t))"
    ).createOrReplaceTempView("c")
    session.range(3).selectExpr("id", "id % 3 AS k", "timestamp_seconds(id) AS t")
      .createOrReplaceTempView("table")
  }

  private var texts, planned = 0

  /** The last test. It fails if most statements are refused only for mistakes of their own. */
  protected def testThatSomeArePlanned(share: Double): Unit =
    test(s"more than $share of the statements are planned") {
      assert(planned > texts * share, s"$planned of $texts")
    }

  /** Fails with the statements that are neither planned nor refused properly. */
  protected def check(some: Seq[String]): Unit = {
    streams
    texts += some.size
    val broken = some.flatMap(text => wrong(text).map(why => s"$text: ${why.take(200)}"))
    assert(broken.isEmpty, broken.mkString("\n", "\n", ""))
  }

  private def wrong(text: String): Option[String] =
    try {
      val execution = session.sql(text).asInstanceOf[classic.DataFrame].queryExecution
      if (!execution.analyzed.isStreaming) None
      else {
        val plan = ExplainCommand(execution.analyzed, SimpleMode).run(session).head.getString(0)
        planned += 1
        Option.when(plan.contains("INTERNAL_ERROR") || !plan.contains("== Physical Plan =="))(plan)
      }
    } catch {
      case e: AnalysisException if !e.getCondition.startsWith("INTERNAL_ERROR") => None
      case _: SparkUnsupportedOperationException                                => None
      case e: SparkThrowable => Some(s"${e.getCondition} $e")
      case e: Exception      => Some(e.toString)
    }
}
