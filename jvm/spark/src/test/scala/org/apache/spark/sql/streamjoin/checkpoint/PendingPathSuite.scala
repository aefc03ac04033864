package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.checkpoint.pending.{RefuseStateReader, ResolvePendingPath}

/** [[ResolvePendingPath]] and [[RefuseStateReader]], each alone, without a checkpoint. */
class PendingPathSuite extends AnalysisSession {

  test("a path after the name of the source is resolved as a checkpoint") {
    for (name <- Seq("streamjoin-pending", "StreamJoin-Pending")) {
      val relation = UnresolvedRelation(Seq(name, "/no/such/checkpoint"))
      assert(refusal(ResolvePendingPath(session)(relation)).getCondition ==
        "STREAM_JOIN_STATE.NOT_FOUND")
    }
  }

  test("a path after another name, a table and a stream are left to Spark") {
    for (
      relation <- Seq(
        UnresolvedRelation(Seq("parquet", "/no/such/folder")),
        UnresolvedRelation(Seq("streamjoin-pending")),
        UnresolvedRelation(Seq("streamjoin-pending", "/no/such/checkpoint"), isStreaming = true)
      )
    ) assert(ResolvePendingPath(session)(relation) == relation)
  }

  test("RefuseStateReader accepts plans that read no state") {
    RefuseStateReader(session)(LocalRelation(Nil))
    RefuseStateReader(session)(planOf(stream("value AS k")))
  }
}
