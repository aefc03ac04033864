package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.streamjoin.physical.stateful.shown.JoinMetrics

import io.streamjoin.join.Count

/** The metrics of a join by event time. */
private[physical] object TimedJoinMetrics
    extends JoinMetrics(
      ofSide = Seq(
        Count.Input -> "input rows",
        Count.Late -> "late rows",
        Count.NullTime -> "rows without a time",
        Count.Evicted -> "evicted rows"
      ),
      ofBoth = Seq(
        Count.Joined -> "pairs joined",
        Count.LookedInto -> "rows without a match whose key was looked up",
        Count.KeyMet -> "of these, rows whose key the other input has",
        Count.NullPadded -> "rows emitted without a match"
      ),
      removed = Seq(Count.Evicted),
      ofState = Set(Count.Evicted)
    )
