package org.apache.spark.sql.streamjoin.checkpoint.simulation

/** The partition of an operator. */
private[simulation] final case class Place(operator: Int, partition: Int) {
  override def toString: String = s"operator $operator, partition $partition"
}

/**
 * A step that the scheduler chooses. A move that is impossible is skipped, so that any part of a
 * history is a history.
 */
private[simulation] sealed trait Move

private[simulation] object Move {

  /** The query writes the offsets of the next batch. */
  final case class Plan(units: Int) extends Move

  /** A task of the current batch starts, perhaps as a copy of one that runs. */
  final case class Launch(id: Int, place: Place, executor: Int) extends Move

  /** Maintenance of a provider starts. */
  final case class Maintain(id: Int, place: Place, executor: Int) extends Move

  /** An actor runs for a number of file operations. */
  final case class Go(id: Int, operations: Int, and: Actor.Then) extends Move

  /** The sink receives the output of the batch. */
  case object Emit extends Move

  /** The query writes the commit of the batch. */
  case object Commit extends Move

  /** The query ends and starts again, while its tasks live on. */
  case object Restart extends Move

  /** The process of an executor is killed. */
  final case class Kill(executor: Int) extends Move

  /** Spark closes the providers of a partition in a process, and their rows in memory. */
  final case class Unload(place: Place, executor: Int) extends Move
}
