package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.physical.stateful.{Figure, OperatorMetrics}

/** The metrics of an event-time join, in Spark's user interface and in the query's progress. */
private[physical] object StreamJoinMetrics {

  val figures: OperatorMetrics = new OperatorMetrics(
    Seq(
      Figure("inputRowsLeft", "input rows, left"),
      Figure("inputRowsRight", "input rows, right"),
      Figure("joinedRows", "pairs joined"),
      Figure("lookedIntoRows", "rows without a match whose key was looked up"),
      Figure("keyMetRows", "of these, rows whose key the other input has"),
      Figure("lateRowsLeft", "late rows, left"),
      Figure("lateRowsRight", "late rows, right"),
      Figure("aheadRowsLeft", "rows too far ahead, left"),
      Figure("aheadRowsRight", "rows too far ahead, right"),
      Figure("bufferedRowsLeft", "buffered rows, left", isReading = true),
      Figure("bufferedRowsRight", "buffered rows, right", isReading = true),
      Figure("evictedRowsLeft", "evicted rows, left"),
      Figure("evictedRowsRight", "evicted rows, right"),
      Figure("nullTimeRowsLeft", "rows without a time, left"),
      Figure("nullTimeRowsRight", "rows without a time, right"),
      Figure("nullPaddedRows", "rows emitted without a match")
    )
  )
}
