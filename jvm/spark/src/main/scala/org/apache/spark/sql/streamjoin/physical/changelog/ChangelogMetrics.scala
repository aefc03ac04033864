package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.streamjoin.physical.stateful.shown.JoinMetrics

import io.streamjoin.join.Count

/** The metrics of a changelog join. */
private[physical] object ChangelogMetrics
    extends JoinMetrics(
      ofSide = Count.ofChanges.map { count =>
        count -> count.name.replaceAll("([A-Z])", " $1").toLowerCase
      },
      ofBoth = Seq(
        Count.Suppressed -> "updates that change no output column",
        Count.Emitted -> "changes emitted"
      ),
      removed = Seq(Count.Deleted, Count.Expired, Count.Evicted)
    )
