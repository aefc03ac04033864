package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.streamjoin.physical.stateful.Program

/** A join of changelogs as its tasks know it, whatever the batch. */
private[changelog] final class ChangelogProgram(val spec: ChangelogSpec)
    extends Program[ChangelogCode] {

  override def ready(): ChangelogCode = new ChangelogCode(spec)

  /** A join above another is analysed anew in each batch: bounds are the same where the same is in them. */
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

/** The code of a join: how it looks at rows, and how they come out. */
private[changelog] final class ChangelogCode(val spec: ChangelogSpec) extends Program.Ready {
  val rows: UnsafeChangelogRows = new UnsafeChangelogRows(spec)
  val output: UnsafeChangelogOutput = new UnsafeChangelogOutput(spec)

  override def forget(): Unit = {
    rows.forget()
    output.forget()
  }
}
