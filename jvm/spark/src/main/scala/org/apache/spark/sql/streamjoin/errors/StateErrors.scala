package org.apache.spark.sql.streamjoin.errors

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.util.Utils

/** Errors about state and checkpoints, and about requests to read them. */
private[streamjoin] object StateErrors {

  /**
   * @param held bytes that cannot be spilled, of all joins of the process
   * @param limit bytes above which rows are spilled
   * @param most upper limit for bytes that cannot be spilled
   */
  def stateMemoryExceeded(
      held: Long,
      limit: Long,
      most: Long,
      heap: Long
  ): StreamJoinRuntimeException =
    new StreamJoinRuntimeException(
      "STREAM_JOIN.STATE_MEMORY_EXCEEDED",
      Map("held" -> held, "limit" -> limit, "most" -> most, "heap" -> heap).map {
        case (name, bytes) => name -> Utils.bytesToString(bytes)
      }
    )

  /**
   * @param what completes "there is ..."
   */
  def stateNotFound(location: String, what: String): StreamJoinAnalysisException =
    state("NOT_FOUND", "location" -> location, "what" -> what)

  def state(subClass: String, parameters: (String, String)*): StreamJoinAnalysisException =
    new StreamJoinAnalysisException(s"STREAM_JOIN_STATE.$subClass", parameters.toMap, Origin())

  /**
   * @param subClass of `STREAM_JOIN_REWRITE`
   */
  def rewrite(
      subClass: String,
      location: String,
      parameters: (String, String)*
  ): StreamJoinAnalysisException = about(location, s"STREAM_JOIN_REWRITE.$subClass", parameters)

  /**
   * @param subClass of `STREAM_JOIN_WARM_START`
   */
  def warmStart(
      subClass: String,
      location: String,
      parameters: Seq[(String, String)]
  ): StreamJoinAnalysisException = about(location, s"STREAM_JOIN_WARM_START.$subClass", parameters)

  private def about(location: String, condition: String, parameters: Seq[(String, String)]) =
    new StreamJoinAnalysisException(
      condition,
      parameters.toMap + ("location" -> location),
      Origin()
    )

  /** Converts a runtime failure into an analysis error. */
  def atAnalysis(failure: StreamJoinRuntimeException): StreamJoinAnalysisException =
    new StreamJoinAnalysisException(
      failure.getCondition,
      failure.getMessageParameters.asScala.toMap,
      Origin(),
      Some(failure)
    )

  def incompatibleCheckpoint(
      location: String,
      reason: String,
      found: String,
      expected: String,
      cause: Throwable = null,
      instead: String = StartAnew
  ): StreamJoinRuntimeException =
    new StreamJoinRuntimeException(
      Incompatible,
      Map(
        "location" -> location,
        "reason" -> reason,
        "found" -> found,
        "expected" -> expected,
        "instead" -> instead
      ),
      cause
    )

  /**
   * Refuses the checkpoint of another query, and names the call that keeps its rows.
   *
   * @param location the checkpoint, or the folder of its states
   */
  def otherQuery(
      location: String,
      reason: String,
      found: String,
      expected: String,
      cause: Throwable = null,
      instead: String = StartAnew
  ): StreamJoinRuntimeException = {
    val root = location.stripSuffix("/state")
    withHint(
      incompatibleCheckpoint(location, reason, found, expected, cause, instead),
      "To keep its rows, write a checkpoint for the changed query first: " +
        s"""streamjoin.evolve("$root", "$root-changed", changed)"""
    )
  }

  private val StartAnew =
    "Start the query with a new checkpoint location, or restore the earlier query"

  /** Reports a failure to read a file of a checkpoint as an error of the checkpoint. */
  def reading[T](location: String, what: String)(read: => T): T =
    try read
    catch {
      case e @ (_: StreamJoinRuntimeException | _: StreamJoinAnalysisException) => throw e
      case NonFatal(e) =>
        throw damaged(location, what, Option(e.getMessage).getOrElse(e.getClass.getSimpleName), e)
    }

  /** @param what the file, completes "... cannot be read" */
  def damaged(
      location: String,
      what: String,
      found: String,
      cause: Throwable = null
  ): StreamJoinRuntimeException =
    incompatibleCheckpoint(location, s"$what cannot be read", found, "the unchanged file", cause)

  /** The same failure with a further hint on what to do. */
  def withHint(failure: StreamJoinRuntimeException, hint: String): StreamJoinRuntimeException = {
    val said = failure.getMessageParameters.asScala.toMap
    new StreamJoinRuntimeException(
      failure.getCondition,
      said + ("instead" -> s"${said("instead")}. $hint"),
      failure.getCause
    )
  }

  /** Whether the failure is about a checkpoint that does not fit. */
  def isIncompatible(failure: StreamJoinRuntimeException): Boolean =
    failure.getCondition == Incompatible

  private val Incompatible = "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT"
}
