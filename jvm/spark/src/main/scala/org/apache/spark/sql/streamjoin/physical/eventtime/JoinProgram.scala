package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.physical.stateful.TaskPlan

import io.streamjoin.model.BySide

/**
 * The part of a join task that does not depend on the batch.
 *
 * @param inputs the columns of both inputs
 */
private[physical] final case class JoinProgram(
    spec: StreamJoinSpec,
    inputs: BySide[Seq[Attribute]]
) extends TaskPlan[JoinCode] {

  override def ready(): JoinCode = new JoinCode(this)
}

/** Generated code of a join: reads input rows and builds output rows. */
private[physical] final class JoinCode(program: JoinProgram) extends TaskPlan.Ready {
  val spec: StreamJoinSpec = program.spec
  val inputs: BySide[Seq[Attribute]] = program.inputs
  val rows: UnsafeJoinRows = new UnsafeJoinRows(spec, inputs.left, inputs.right)
  val output: JoinedRowOutput = new JoinedRowOutput(spec, inputs.left, inputs.right)

  override def forget(): Unit = {
    rows.forget()
    output.forget()
  }
}
