package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.checkpoint.StoredSources
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.logical.plan.analysis.InputSource
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{EventTimeExec, StoredLayout}

/** A join or ordered output of the changed query. */
private[evolve] final case class ChangedOperator(exec: EventTimeExec) {

  val id: Long = exec.getStateInfo.operatorId

  /** How it stores rows; none: its rows can only be copied. */
  val layout: Option[StoredLayout] = exec.layout

  def inputs: Seq[Seq[InputSource]] = exec.sources.map(_._2)

  def name: String = s"${exec.nodeName} $id"

  /** Whether another operator with state reads its rows. */
  def isBelow(other: ChangedOperator): Boolean =
    (other.exec ne exec) && other.exec.exists(_ eq exec)
}

/**
 * A join or ordered output of the checkpoint.
 *
 * @param isSparks whether it is a join of Spark, described as the one that continues it
 */
private[evolve] final case class StoredOperator(join: StoredJoin, isSparks: Boolean = false) {

  val id: Long = join.operator

  val inputs: Seq[Seq[InputSource]] =
    StoredSources.read(join.metadata.operatorPropertiesJson).map(_._2)

  /** The sources of its rows in the order of the query. */
  def sources: Seq[InputSource] = inputs.flatten

  def kind: String =
    if (isSparks) "Spark's join" else if (join.isOrder) "ordered output" else "join"
}
