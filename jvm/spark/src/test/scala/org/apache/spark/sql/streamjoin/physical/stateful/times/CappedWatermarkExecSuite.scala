package org.apache.spark.sql.streamjoin.physical.stateful.times

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.spark.EventTimeWatermarkExec
import org.apache.spark.sql.types.TimestampType
import org.apache.spark.unsafe.types.CalendarInterval

/** Spark's watermark of a column with several orders. */
class CappedWatermarkExecSuite extends AnalysisSession {

  test("the least limit of all orders counts, and the groups of any") {
    session
    val time = AttributeReference("t", TimestampType)()
    val table = LocalTableScanExec(Seq(time), Nil, None)
    val sparks =
      new EventTimeWatermarkExec(UUID.randomUUID(), time, new CalendarInterval(0, 0, 0), table)
    for (orders <- Seq(5L -> true, 9L -> false).permutations) {
      val w = orders.foldLeft(sparks) { case (w, (latest, grouped)) =>
        CappedWatermarkExec.of(w, latest, grouped)
      }
      assert(w.asInstanceOf[CappedWatermarkExec].latest == 5)
      assert(w.asInstanceOf[CappedWatermarkExec].grouped)
    }
  }
}
