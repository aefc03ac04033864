package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogJoin

import io.streamjoin.PythonApi

/** Joins of changelogs as they are planned, over inputs of which only the columns are there. */
trait PlannedChangelogs extends AnalysisSession {

  /** @param wanted which rows of the output somebody asks for */
  protected def planned(j: ChangelogJoin, wanted: Seq[Expression] = Nil): ChangelogJoinExec =
    PlanChangelogJoin(j, j.outputSet, p => LocalTableScanExec(p.output, Nil, None), wanted)

  /** Rows `id, k, t` that come and go. */
  protected def changes(key: Seq[String], sequence: Option[String]): DataFrame =
    PythonApi.fromChangelog(
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
