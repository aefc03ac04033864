package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.ExplainCommand
import org.apache.spark.sql.streamjoin.AnalysisSession

/** [[ExplainStream]] on its own. */
class ExplainStreamSuite extends AnalysisSession {

  private def explained(text: String): (LogicalPlan, LogicalPlan) = {
    val plan = session.sessionState.sqlParser.parsePlan(s"EXPLAIN $text")
    plan -> ExplainStream(session)(plan)
  }

  test("EXPLAIN of a query of a streaming view gets the resolved streaming plan") {
    stream("value AS k", "timestamp AS t").createOrReplaceTempView("explained")
    explained("SELECT k FROM explained WHERE k > 3") match {
      case (before: ExplainCommand, after: ExplainCommand) =>
        assert(!before.logicalPlan.isStreaming && after.logicalPlan.isStreaming)
        assert(after.logicalPlan.resolved && after.mode == before.mode)
      case other => fail(other.toString)
    }
  }

  test("EXPLAIN of a table, of an invalid query and of a command is left to Spark") {
    for (text <- Seq("SELECT 1", "SELECT nothing FROM explained", "SHOW TABLES")) {
      val (before, after) = explained(text)
      assert(after == before, text)
    }
  }
}
