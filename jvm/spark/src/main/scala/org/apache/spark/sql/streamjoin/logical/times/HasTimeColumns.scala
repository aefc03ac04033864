package org.apache.spark.sql.streamjoin.logical.times

/** A node of this project's own, which says itself what becomes of the event times in it. */
private[streamjoin] trait HasTimeColumns {

  /** The event-time columns of its output. Valid once resolved. */
  def timeColumns: TimeColumns
}
