package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

/** Display texts of the watermarks of source columns. */
private[physical] object WatermarkWords {

  /** @param source the display name of the column */
  def of(base: BaseColumn, source: String): String = base match {
    case b: BaseColumn.Imposed =>
      val idle = b.idleTimeoutMs.fold("") { ms =>
        s"; after ${TimeUnit.Timestamp.words(ms * 1000)} without a row, the watermark of the " +
          "slowest input that it is joined with"
      }
      val ahead = b.maxAhead.fold("") { a =>
        val dropped = if (a.rejects) ", and its row is dropped" else ""
        s"; a time more than ${TimeUnit.Timestamp.words(a.micros)} ahead of its batch does not " +
          s"advance it$dropped"
      }
      s"watermark of $source: ${b.unit.movedInWords(latest(source, b.unit), -b.lag)}$idle$ahead"
    case _: BaseColumn.Propagated =>
      s"watermark of $source: from Spark's own operator below"
  }

  def latest(name: String, unit: TimeUnit): String =
    s"the ${if (unit == TimeUnit.Number) "largest" else "latest"} $name seen"
}
