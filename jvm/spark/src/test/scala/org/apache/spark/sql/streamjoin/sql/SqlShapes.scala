package org.apache.spark.sql.streamjoin.sql

import scala.collection.mutable

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

  /**
   * Registers one test for each group of statements. A last test fails if most statements are
   * refused, perhaps for mistakes of their own.
   *
   * @param groups the statements by the name of their test
   * @param share the minimum share of planned statements
   */
  protected def testShapes(groups: Seq[(String, Seq[String])], share: Double): Unit = {
    for ((name, statements) <- groups)
      test(name) {
        val broken =
          for (text <- statements; Broken(why) <- Seq(outcome(text)))
            yield s"$text: ${why.take(200)}"
        assert(broken.isEmpty, broken.mkString("\n", "\n", ""))
      }
    test(s"more than $share of the statements are planned") {
      val all = groups.flatMap(_._2)
      val planned = all.count(outcome(_) == Planned)
      assert(planned > all.length * share, s"$planned of ${all.length}")
    }
  }

  private sealed trait Outcome
  private case object Planned extends Outcome
  private case object NotPlanned extends Outcome

  /** Neither planned nor refused properly. */
  private case class Broken(why: String) extends Outcome

  private val outcomes = mutable.Map.empty[String, Outcome]

  /** Plans a statement, once for all tests. */
  private def outcome(text: String): Outcome = {
    streams
    outcomes.getOrElseUpdate(text, planned(text))
  }

  private def planned(text: String): Outcome =
    try {
      val execution = session.sql(text).asInstanceOf[classic.DataFrame].queryExecution
      if (!execution.analyzed.isStreaming) NotPlanned
      else {
        val plan = ExplainCommand(execution.analyzed, SimpleMode).run(session).head.getString(0)
        if (plan.contains("INTERNAL_ERROR") || !plan.contains("== Physical Plan ==")) Broken(plan)
        else Planned
      }
    } catch {
      case e: AnalysisException if !e.getCondition.startsWith("INTERNAL_ERROR") => NotPlanned
      case _: SparkUnsupportedOperationException                                => NotPlanned
      case e: SparkThrowable => Broken(s"${e.getCondition} $e")
      case e: Exception      => Broken(e.toString)
    }
}
