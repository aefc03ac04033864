package io.streamjoin.benchmarks.flink

import org.apache.flink.api.common.eventtime.WatermarkStrategy
import org.apache.flink.api.common.functions.FlatMapFunction
import org.apache.flink.api.common.typeinfo.{TypeInformation, Types}
import org.apache.flink.api.connector.source.lib.NumberSequenceSource
import org.apache.flink.streaming.api.datastream.DataStream
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.table.api.{DataTypes, Schema}
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment
import org.apache.flink.table.data.{GenericRowData, RowData, StringData, TimestampData}
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo
import org.apache.flink.table.types.DataType
import org.apache.flink.table.types.logical.RowType
import org.apache.flink.util.Collector

import io.streamjoin.benchmarks._

/**
 * A workload's inputs as Flink's tables. One source counts the steps and every input takes its rows
 * from there, so that no input runs ahead of another.
 */
private object Arrivals {

  /** Split i of n gives every n-th step, since all splits are read at the same time. */
  def steps(
      environment: StreamExecutionEnvironment,
      workload: Workload,
      cores: Int
  ): DataStream[java.lang.Long] = {
    val each = (workload.steps + cores) / cores
    environment
      .fromSource(
        new NumberSequenceSource(0, each * cores - 1),
        WatermarkStrategy.noWatermarks[java.lang.Long](),
        "steps"
      )
      .map(n => java.lang.Long.valueOf(n % each * cores + n / each))
      .returns(Types.LONG)
  }

  def declare(
      tables: StreamTableEnvironment,
      steps: DataStream[java.lang.Long],
      stream: RowStream
  ): Unit = {
    val time = stream.indexOf(stream.time)
    val strategy = WatermarkStrategy
      .forBoundedOutOfOrderness[RowData](java.time.Duration.ofMillis(stream.lag))
      .withTimestampAssigner((row, _) => row.getTimestamp(time, 3).getMillisecond)
    val rows = steps
      .flatMap(new RowsOfStep(stream))
      .returns(rowType(stream))
      .assignTimestampsAndWatermarks(strategy)
    val schema = stream.columns.foldLeft(Schema.newBuilder()) { (schema, column) =>
      schema.column(column.name, dataType(column))
    }
    tables.createTemporaryView(
      stream.name,
      rows,
      schema.watermark(stream.time, "SOURCE_WATERMARK()").build()
    )
  }

  private def dataType(column: Column): DataType = column.kind match {
    case Kind.Number => DataTypes.BIGINT()
    case Kind.Time   => DataTypes.TIMESTAMP_LTZ(3)
    case Kind.Text   => DataTypes.STRING()
  }

  private def rowType(stream: RowStream): TypeInformation[RowData] =
    InternalTypeInfo.of(
      RowType.of(
        stream.columns.map(dataType(_).getLogicalType).toArray,
        stream.columns.map(_.name).toArray
      )
    )
}

/** The closing rows come with the last step, in every split, for each to bring its watermark up. */
private final class RowsOfStep(stream: RowStream)
    extends FlatMapFunction[java.lang.Long, RowData] {

  override def flatMap(step: java.lang.Long, out: Collector[RowData]): Unit = {
    var row = stream.arrivedBefore(math.min(step, stream.steps + 1))
    val end = stream.arrivedBefore(math.min(step + 1, stream.steps + 1))
    while (row < end) {
      out.collect(read(row))
      row += 1
    }
  }

  private def read(row: Long): RowData = {
    val data = new GenericRowData(stream.columns.length)
    var c = 0
    while (c < stream.columns.length) {
      val value = stream.value(row, c)
      stream.columns(c).kind match {
        case Kind.Number => data.setField(c, value)
        case Kind.Time   => data.setField(c, TimestampData.fromEpochMillis(value))
        case Kind.Text => data.setField(c, StringData.fromBytes(RowsOfStep.Filler, 0, value.toInt))
      }
      c += 1
    }
    data
  }
}

private object RowsOfStep {
  private val Filler: Array[Byte] = Array.fill(1024)('x'.toByte)
}
