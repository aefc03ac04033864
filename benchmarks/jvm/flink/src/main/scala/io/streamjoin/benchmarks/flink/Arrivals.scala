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
import org.apache.flink.types.{Row, RowKind}
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
    val rows = steps.flatMap(new RowsOfStep(stream)).returns(rowType(stream))
    val schema = columns(stream).foldLeft(Schema.newBuilder()) { (schema, column) =>
      val isKey = key(stream).contains(column.name)
      schema.column(column.name, if (isKey) dataType(column).notNull else dataType(column))
    }
    stream.arrival match {
      case Arrival.Ordered(time, _) =>
        tables.createTemporaryView(
          stream.name,
          rows.assignTimestampsAndWatermarks(watermarks(stream)),
          schema.watermark(time, "SOURCE_WATERMARK()").build()
        )
      case Arrival.Versioned(key, time, _) =>
        val timed = rows.assignTimestampsAndWatermarks(watermarks(stream))
        tables.createTemporaryView(
          stream.name,
          tables.fromChangelogStream(
            timed.asInstanceOf[DataStream[Row]],
            schema.primaryKey(key).watermark(time, "SOURCE_WATERMARK()").build()
          )
        )
      case Arrival.Appended =>
        tables.createTemporaryView(stream.name, rows, schema.build())
      case Arrival.Changing(key) =>
        key.foreach(schema.primaryKey(_))
        tables.createTemporaryView(
          stream.name,
          // rows are read as what their type says: these need no conversion
          tables.fromChangelogStream(rows.asInstanceOf[DataStream[Row]], schema.build())
        )
    }
  }

  private def key(stream: RowStream): Option[String] = stream.arrival match {
    case Arrival.Changing(key)        => key
    case Arrival.Versioned(key, _, _) => Some(key)
    case _                            => None
  }

  private def watermarks(stream: RowStream): WatermarkStrategy[RowData] = {
    val time = stream.indexOf(stream.time)
    WatermarkStrategy
      .forBoundedOutOfOrderness[RowData](java.time.Duration.ofMillis(stream.lag))
      .withTimestampAssigner((row, _) => row.getTimestamp(time, 3).getMillisecond)
  }

  /** A row has its kind beside its columns. */
  private def columns(stream: RowStream): IndexedSeq[Column] =
    stream.columns.filterNot(_.kind == Kind.Change)

  private def dataType(column: Column): DataType = column.kind match {
    case Kind.Number => DataTypes.BIGINT()
    case Kind.Time   => DataTypes.TIMESTAMP_LTZ(3)
    case Kind.Text   => DataTypes.STRING()
    case Kind.Change => throw new IllegalArgumentException(s"${column.name} is no column here")
  }

  private def rowType(stream: RowStream): TypeInformation[RowData] =
    InternalTypeInfo.of(
      RowType.of(
        columns(stream).map(dataType(_).getLogicalType).toArray,
        columns(stream).map(_.name).toArray
      )
    )
}

/** The closing rows come with the last step, in every split, to advance its watermark. */
private final class RowsOfStep(stream: RowStream)
    extends FlatMapFunction[java.lang.Long, RowData] {

  /** The kind is the last column. */
  private val width = stream.columns.count(_.kind != Kind.Change)

  override def flatMap(step: java.lang.Long, out: Collector[RowData]): Unit = {
    var row = stream.arrivedBefore(math.min(step, stream.steps + 1))
    val end = stream.arrivedBefore(math.min(step + 1, stream.steps + 1))
    while (row < end) {
      out.collect(read(row))
      row += 1
    }
  }

  private def read(row: Long): RowData = {
    val data = new GenericRowData(width)
    var c = 0
    while (c < stream.columns.length) {
      val value = stream.value(row, c)
      stream.columns(c).kind match {
        case Kind.Number => data.setField(c, value)
        case Kind.Time   => data.setField(c, TimestampData.fromEpochMillis(value))
        case Kind.Text => data.setField(c, StringData.fromBytes(RowsOfStep.Filler, 0, value.toInt))
        case Kind.Change => data.setRowKind(RowsOfStep.kinds(value.toInt))
      }
      c += 1
    }
    data
  }
}

private object RowsOfStep {
  private val Filler: Array[Byte] = Array.fill(1024)('x'.toByte)

  /** By their place in [[Kind.Change.words]]. */
  private val kinds =
    Array(RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE)
}
