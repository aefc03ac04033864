package org.apache.spark.sql.streamjoin.physical

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataV2
import org.apache.spark.sql.streamjoin.checkpoint.{
  LocalCheckpointFiles,
  StoredGroupColumns,
  StoredSources
}
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{JoinNode, StreamOrder}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.CheckpointedState
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFileManager,
  CheckpointFiles,
  NamedSources,
  OffsetSeqLog
}
import org.apache.spark.sql.streamjoin.spark.StreamingCheckpointConstants.{
  DIR_NAME_COMMITS,
  DIR_NAME_OFFSETS,
  DIR_NAME_STATE
}

/**
 * Compares a query with its checkpoint when the query starts.
 *
 * Spark compares stateful operators with their metadata when it plans the first batch of a run. It
 * plans no batch while no rows arrive. So this check plans the query at its start, as the first
 * batch will, and compares the plan with the stored descriptions. It writes nothing to the
 * checkpoint. It leaves a query that cannot be planned to the first batch.
 */
private[streamjoin] final class CheckCheckpoint(session: SparkSession)
    extends (LogicalPlan => Unit)
    with Logging {
  import CheckCheckpoint._

  override def apply(plan: LogicalPlan): Unit = plan match {
    case w: WriteToStream =>
      try AnalysisHelper.allowInvokingTransformsInAnalyzer { if (hasState(w)) compare(w) }
      catch {
        case e: StreamJoinRuntimeException if StateErrors.isIncompatible(e) =>
          throw StateErrors.atAnalysis(e)
      }
    case _ =>
  }

  private def folder(w: WriteToStream, name: String): Path =
    new Path(w.resolvedCheckpointLocation, name)

  /**
   * Whether an operator has state metadata of the supported version. Refuses a checkpoint that is not
   * complete: a query would start with the first batch and ignore the state, or not start at all.
   */
  private def hasState(w: WriteToStream): Boolean = {
    val state = folder(w, DIR_NAME_STATE)
    val files = CheckpointFileManager.create(state, classicSession.sessionState.newHadoopConf())
    def isCommitted = LocalCheckpointFiles.numbers(files, folder(w, DIR_NAME_COMMITS)).nonEmpty
    val operators = LocalCheckpointFiles.numbers(files, state)
    val log = folder(w, DIR_NAME_OFFSETS)
    val offsets = LocalCheckpointFiles.numbers(files, log)
    if (joins(w) && FirstBatchOfHistory.isUnfinished(w, files))
      throw incomplete(w, "a part of a history")
    if (joins(w) && FirstBatchOfHistory.isLast(log, offsets, classicSession)) {
      if (!isCommitted) throw incomplete(w, "the offsets of a history without its state")
      FirstBatchOfHistory.skip(w, classicSession)
    }
    if (operators.nonEmpty && joins(w)) {
      // a query makes the folder when it starts, before the entry of its first batch
      val hasBegun = offsets.nonEmpty || files.exists(log) && !isCommitted
      if (!hasBegun) throw incomplete(w, "a state without offsets")
      offsets match {
        case Seq(batch) if batch > 0 =>
          throw incomplete(w, s"the offsets of batch $batch without those of batch ${batch - 1}")
        case _ =>
      }
    }
    operators.exists { operator =>
      files.exists(OperatorStateMetadataV2.metadataDirPath(new Path(state, operator.toString)))
    }
  }

  private def incomplete(w: WriteToStream, found: String) = StateErrors.incompatibleCheckpoint(
    w.resolvedCheckpointLocation,
    "it is not complete, as after an interrupted call of streamjoin.rescale, evolve or warm",
    found,
    "a state, and the offsets up to which it has read",
    instead = "If such a call has written it, delete it, and repeat the call. If not, " +
      "restore its folder offsets"
  )

  private def joins(w: WriteToStream): Boolean = w.inputQuery.exists {
    case _: JoinNode | _: StreamOrder => true
    case _                            => false
  }

  private def compare(w: WriteToStream): Unit = {
    // Spark runs the query in a clone of the session, too
    val own = classicSession.cloneSession()
    own.withActive {
      val log = CheckpointFiles.offsets(own, folder(w, DIR_NAME_OFFSETS))
      for (batch <- log.getLatestBatchId()) {
        val operators = planned(w, own, batch, log).toSeq
          .flatMap(_.collect { case o: CheckpointedState => o })
        val written = operators.flatMap(o => o.requireFit().map(o.getStateInfo.operatorId -> _))
        val described = operators.map(o => o.getStateInfo.operatorId -> o.described).toMap
        StoredSources.requireInPlace(
          folder(w, DIR_NAME_STATE).toString,
          written.toMap,
          described,
          NamedSources.findOffsets(log, batch)
        )
        if (!w.getTagValue(GroupsCompared).contains(true)) {
          w.setTagValue(GroupsCompared, true)
          for {
            (operator, before) <- written
            change <- StoredGroupColumns.changes(before, described(operator))
          } logWarning(s"Operator $operator of ${w.resolvedCheckpointLocation}: $change")
        }
      }
    }
  }

  /**
   * The query's plan for a batch in which every source has rows; none if the query cannot be
   * planned.
   */
  private def planned(
      w: WriteToStream,
      own: classic.SparkSession,
      batch: Long,
      log: OffsetSeqLog
  ): Option[SparkPlan] = {
    val states = folder(w, DIR_NAME_STATE).toString
    try Some(PlannedQuery.of(own, w.inputQuery, w.outputMode, states, batch, log))
    catch {
      case e: StreamJoinRuntimeException if StateErrors.isIncompatible(e) => throw e
      case NonFatal(e) =>
        logInfo(s"The first batch compares the query with ${w.resolvedCheckpointLocation}", e)
        None
    }
  }

  private def classicSession: classic.SparkSession = session.asInstanceOf[classic.SparkSession]
}

private object CheckCheckpoint {

  /** Set once changed groups are logged, because Spark checks a plan more than once. */
  private val GroupsCompared = TreeNodeTag[Boolean]("io.streamjoin.groupsCompared")
}
