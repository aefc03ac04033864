package io.streamjoin.benchmarks.hazelcast

import java.time.OffsetDateTime

import com.hazelcast.jet.core.{AbstractProcessor, Processor}
import com.hazelcast.sql.impl.row.JetSqlRow

import io.streamjoin.benchmarks.Checksum

/** Takes the result in and keeps what it comes to. */
private final class CheckingP(run: Run) extends AbstractProcessor {
  private val part = new Checksum
  private var first = false

  override protected def init(context: Processor.Context): Unit =
    first = context.globalProcessorIndex == 0

  override protected def tryProcess(ordinal: Int, item: AnyRef): Boolean = {
    val row = item.asInstanceOf[JetSqlRow]
    var c = 0
    while (c < row.getFieldCount) {
      row.get(c) match {
        case null                   => part.addNull()
        case number: java.lang.Long => part.add(number)
        case time: OffsetDateTime   => part.add(time.toInstant.toEpochMilli)
        case text: String           => part.add(text.length.toLong)
        case other =>
          throw new IllegalArgumentException(s"no column of this kind: ${other.getClass}")
      }
      c += 1
    }
    part.end()
    true
  }

  override def snapshotCommitFinish(success: Boolean): Boolean = {
    if (success && first) run.snapshots.incrementAndGet()
    true
  }

  override def complete(): Boolean = {
    run.add(part)
    true
  }
}
