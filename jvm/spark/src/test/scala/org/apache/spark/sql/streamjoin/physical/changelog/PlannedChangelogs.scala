package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

/** Physical plans of changelog joins over inputs without rows. */
trait PlannedChangelogs extends AnalysisSession {

  /** @param wanted the filters on the output */
  protected def planned(j: ChangelogJoin, wanted: Seq[Expression] = Nil): ChangelogJoinExec =
    PlanChangelogJoin(j, j.outputSet, p => LocalTableScanExec(p.output, Nil, None), wanted)

  /** A changelog with the columns `id, k, t`. */
  protected def changes(key: Seq[String], sequence: Option[String]): DataFrame =
    PythonCalls.fromChangelog(
      stream(
        "value AS id",
        "value % 3 AS k",
        "timestamp AS t",
        "IF(value > 9, 'delete', 'insert') AS op"
      ),
      java.util.List.of(key: _*),
      "op",
      java.util.Map.of[String, String](),
      sequence.orNull
    )
}
