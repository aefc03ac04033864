package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.physical.timed.DisorderReport
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.{KeyLoad, TaskLoad}

/**
 * The accumulators through which the tasks of an event-time join report to the driver.
 *
 * @param times the report of every join by event time
 * @param held the earliest times of the buffered rows, if an operator above requires them
 * @param loads the load of each task by key, if the join may spread hot keys
 */
private[eventtime] final case class EventTimeReport(
    times: DisorderReport,
    held: Option[CollectionAccumulator[Array[Long]]],
    loads: Option[CollectionAccumulator[TaskLoad]]
) {

  /** Stores the latest times of a partition at the end of a batch, and reports its load. */
  def addLoad(partition: Int, numbers: StoredNumbers, load: KeyLoad): Unit = {
    StoredKeyLoad.save(load, numbers)
    loads.foreach(_.add(load.report(partition)))
  }
}
