package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.checkpoint.pending.{RefuseStateReader, ResolvePendingPath}

/** [[ResolvePendingPath]] and [[RefuseStateReader]], each alone, where there is no checkpoint. */
class PendingPathSuite extends AnalysisSession {

  test("a path behind the name of the source is that of a checkpoint") {
    for (name <- Seq("streamjoin-pending", "StreamJoin-Pending")) {
      val relation = UnresolvedRelation(Seq(name, "/no/such/checkpoint"))
      assert(refusal(ResolvePendingPath(session)(relation)).getCondition ==
        "STREAM_JOIN_STATE.NOT_FOUND")
    }
  }

  test("one behind another name, and a table, are Spark's") {
    for (
      relation <- Seq(
        UnresolvedRelation(Seq("parquet", "/no/such/folder")),
        UnresolvedRelation(Seq("streamjoin-pending")),
        UnresolvedRelation(Seq("streamjoin-pending", "/no/such/checkpoint"), isStreaming = true)
      )
    ) assert(ResolvePendingPath(session)(relation) == relation)
  }

  test("what reads no state is nobody's to refuse") {
    RefuseStateReader(session)(LocalRelation(Nil))
    RefuseStateReader(session)(planOf(stream("value AS k")))
  }
}
