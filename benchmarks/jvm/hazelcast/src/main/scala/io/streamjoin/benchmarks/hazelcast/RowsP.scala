package io.streamjoin.benchmarks.hazelcast

import java.time.{Instant, ZoneOffset}
import java.util

import com.hazelcast.function.FunctionEx
import com.hazelcast.jet.{Traverser, Traversers}
import com.hazelcast.jet.core.{AbstractProcessor, EventTimeMapper, EventTimePolicy, Processor}
import com.hazelcast.jet.sql.impl.ExpressionUtil
import com.hazelcast.sql.impl.expression.{Expression, ExpressionEvalContext}
import com.hazelcast.sql.impl.row.JetSqlRow

import io.streamjoin.benchmarks.Kind

/**
 * The rows of every n-th step of an input: n processors emit all rows, and each of them the closing
 * row, to advance its watermark. It saves no position, since the job ends with its only member.
 */
private final class RowsP(
    run: Run,
    name: String,
    condition: Expression[java.lang.Boolean],
    columns: util.List[Expression[_]],
    order: FunctionEx[ExpressionEvalContext, EventTimePolicy[JetSqlRow]]
) extends AbstractProcessor {
  private val stream = run.workload.streams.find(_.name == name).get
  private val reached = run.pace.join()

  private var parallelism = 0
  private var rows: Traverser[AnyRef] = _

  /** Where it is: the next row of a step, and the one after the step's last. */
  private var step, row, end = 0L
  private var limit = 0L

  override protected def init(processor: Processor.Context): Unit = {
    parallelism = processor.totalParallelism
    step = processor.globalProcessorIndex.toLong - parallelism
    val context = ExpressionEvalContext.from(processor)
    val times = new EventTimeMapper[JetSqlRow](order.apply(context))
    times.addPartitions(1)
    val all: Traverser[JetSqlRow] = () => if (arrived()) read(context) else null
    rows = all.flatMap { row =>
      val selected = ExpressionUtil.evaluate(condition, columns, row, context)
      if (selected == null) Traversers.empty[AnyRef]
      else times.flatMapEvent(selected, 0, EventTimeMapper.NO_NATIVE_TIME)
    }
  }

  override def complete(): Boolean = emitFromTraverser(rows) && row == end && step == stream.steps

  private def arrived(): Boolean = {
    while (row == end && nextStep()) ()
    row < end
  }

  private def nextStep(): Boolean = {
    val next = math.min(step + parallelism, stream.steps)
    if (next >= limit) limit = run.pace.limit
    val goes = step < stream.steps && next < limit
    if (goes) {
      step = next
      row = stream.arrivedBefore(step)
      end = stream.arrivedBefore(step + 1)
      reached.set(step)
    }
    goes
  }

  private def read(context: ExpressionEvalContext): JetSqlRow = {
    val values = new Array[AnyRef](stream.columns.length)
    var c = 0
    while (c < values.length) {
      val value = stream.value(row, c)
      values(c) = stream.columns(c).kind match {
        case Kind.Number => java.lang.Long.valueOf(value)
        case Kind.Time   => Instant.ofEpochMilli(value).atOffset(ZoneOffset.UTC)
        case Kind.Text   => RowsP.Filler.substring(0, value.toInt)
        case Kind.Change => throw new IllegalArgumentException("no changelog")
      }
      c += 1
    }
    row += 1
    new JetSqlRow(context.getSerializationService, values)
  }
}

private object RowsP {
  private val Filler = "x" * 1024
}
