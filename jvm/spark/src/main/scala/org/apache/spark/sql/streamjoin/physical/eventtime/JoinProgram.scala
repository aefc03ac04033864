package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.physical.stateful.Program

import io.streamjoin.model.BySide

/**
 * A join as its tasks know it, whatever the batch.
 *
 * @param inputs the columns of the rows that come in
 */
private[physical] final case class JoinProgram(
    spec: StreamJoinSpec,
    inputs: BySide[Seq[Attribute]]
) extends Program[JoinCode] {

  override def ready(): JoinCode = new JoinCode(this)
}

/** The code of a join: how it looks at rows, and how they come out. */
private[physical] final class JoinCode(program: JoinProgram) extends Program.Ready {
  val spec: StreamJoinSpec = program.spec
  val inputs: BySide[Seq[Attribute]] = program.inputs
  val rows: UnsafeJoinRows = new UnsafeJoinRows(spec, inputs.left, inputs.right)
  val output: JoinedRowOutput = new JoinedRowOutput(spec, inputs.left, inputs.right)

  override def forget(): Unit = {
    rows.forget()
    output.forget()
  }
}
