package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.streamjoin.physical.stateful.TaskPlan

/** TaskPlan of the tasks of a changelog join: the part that is the same in each batch. */
private[changelog] final class ChangelogProgram(val spec: ChangelogSpec)
    extends TaskPlan[ChangelogCode] {

  override def ready(): ChangelogCode = new ChangelogCode(spec)

  /**
   * The parts by which programs are compared. A join above another one is analyzed again in each
   * batch, so equal bounds are different objects and are compared by their contents.
   */
  private def told: Seq[Any] = {
    val bounds = spec.bounds
    Seq(
      spec.copy(times = spec.times.copy(watermarks = null, leaving = null)),
      spec.times.watermarks.inputs,
      spec.times.leaving.alone,
      bounds.columns,
      bounds.conjuncts,
      bounds.facts,
      bounds.neverTrue
    )
  }

  override def equals(other: Any): Boolean = other match {
    case o: ChangelogProgram => told == o.told
    case _                   => false
  }

  override def hashCode: Int = spec.output.columns.hashCode
}

/** Generated code of a changelog join: accessors of input rows and a factory of output rows. */
private[changelog] final class ChangelogCode(val spec: ChangelogSpec) extends TaskPlan.Ready {
  val rows: UnsafeChangelogRows = new UnsafeChangelogRows(spec)
  val output: UnsafeChangelogOutput = new UnsafeChangelogOutput(spec)

  override def forget(): Unit = {
    rows.forget()
    output.forget()
  }
}
