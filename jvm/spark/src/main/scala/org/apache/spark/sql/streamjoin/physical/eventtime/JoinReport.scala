package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.physical.stateful.{
  BatchReport,
  EarliestTimes,
  LargestNumbers,
  PartitionCounts
}

/**
 * What the tasks of one batch of an event-time join tell the driver.
 *
 * @param common what the tasks of every stateful operator tell
 * @param furthest see [[JoinExtremes]]
 * @param sketched see [[StoredDisorder]]
 * @param held the earliest times of what is held, where an operator above asks for them
 */
private[physical] final case class JoinReport(
    common: BatchReport,
    furthest: LargestNumbers,
    sketched: PartitionCounts,
    held: Option[EarliestTimes]
)
