package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.apache.spark.sql.streamjoin.checkpoint.StateShape
import org.apache.spark.sql.streamjoin.spark.{StateStoreId, StateStoreProvider}

/** Hands the rows of a partition to one store at a time. */
private[segment] trait StoredPartition {

  def stateStoreId: StateStoreId

  /** Its provider, or none if Spark has closed it. */
  def provider: Option[StateStoreProvider]

  /** Whether Spark records the ID of each version's file. */
  def reportsIds: Boolean

  /** A version without rows. */
  def empty(number: Long, shape: StateShape): Resident

  /** Takes the rows of a version. No other task has them until [[give]]. */
  def take(number: Long, id: Option[String], shape: StateShape): Resident

  /** Returns taken rows. */
  def give(rows: Resident): Unit

  /** Writes the next version of taken rows. */
  def commit(taken: Resident, numbers: Map[String, Long]): Resident
}
