package io.streamjoin.benchmarks

import io.streamjoin.benchmarks.limit.Loop

sealed trait Dialect

object Dialect {
  case object Spark extends Dialect

  /** Spark's, with IMPOSE_ORDER where a query itself has to say what its watermarks are. */
  case object StreamJoin extends Dialect
  case object Flink extends Dialect
  case object Hazelcast extends Dialect
}

/**
 * Inputs and a query over them. The query's first column is a number and never NULL.
 *
 * @param parameters all that were used, defaults included
 */
abstract class Workload(val name: String, val parameters: Parameters) extends Serializable {

  def streams: IndexedSeq[RowStream]

  /** Over relations that are named as the streams. */
  def query(dialect: Dialect): String

  /** Whether the query aggregates an input, for which Spark wants a watermark of its own kind. */
  def aggregates: Boolean = false

  /** Whether it is a changelog join, which corrects its result: only the final rows count. */
  def isChangelog: Boolean = !streams.exists(_.arrival.isInstanceOf[Arrival.Ordered])

  /** Whether an engine that emits a result before it is final corrects it. */
  def isCorrected: Boolean = streams.exists(_.arrival.isInstanceOf[Arrival.Changing])

  /**
   * Keys, sums and counts of the rows `emitted` in a batch, which a sink of Spark adds to a table of
   * averages. None: the result is what the query emits.
   */
  def sums: Option[String] = None

  /**
   * How many keys the result's first column has, where the result is written into a table by it, as where
   * parameter `sink` is `table`.
   */
  def tableKeys: Option[Long] = None

  /** The same without an engine. */
  def loop(result: Checksum): Loop

  final def steps: Long = streams.head.steps

  final val batch: Long = parameters.number("batch")

  /** Steps of the initial state, loaded before the measured batches: parameter `standing`. */
  private val standing = parameters.values.get("standing").fold(0L)(_.toLong)

  /** Batches that load the initial state. */
  final val loads: Int = Workload.parts(standing, Workload.Load)

  /** The last one contains the closing rows. */
  final def batches: Int = loads + Workload.parts(math.max(steps - standing, 0), batch) + 1

  /** The steps before a batch begins; the closing rows come in one more than there are. */
  final def stepsBefore(number: Long): Long =
    if (number >= batches) steps + 1
    else if (number <= loads) Seq(number * Workload.Load, standing, steps).min
    else math.min(standing + (number - loads) * batch, steps)

  /** How many rows of a stream have arrived before a batch begins. */
  final def arrivedBefore(stream: RowStream, number: Long): Long =
    stream.arrivedBefore(stepsBefore(number))

  final def rows: Long = streams.map(_.rows).sum

  /** The preserved input, if there is one: its rows may be emitted unmatched. */
  def preserved: Option[Preserved] = None
}

/**
 * @param opposite the input whose watermark says that a row has no partner
 * @param until the time up to which a row of the preserved input may find one
 */
final case class Preserved(opposite: RowStream, until: Long => Long)

object Workload {

  /** Steps of one batch that loads the initial state, at most. */
  private val Load = 500000L

  private def parts(steps: Long, each: Long): Int = ((steps + each - 1) / each).toInt

  /** What makes a join of inputs whose rows only come a changelog join of this project. */
  def changelogHint(dialect: Dialect): String =
    if (dialect == Dialect.StreamJoin) "/*+ STREAM_JOIN(mode => 'changelog') */" else ""

  /** The column that a changelog join of this project needs up to the sink, after others. */
  def changeType(dialect: Dialect): String =
    if (dialect == Dialect.StreamJoin) ", _change_type" else ""

  /** An interval that all dialects read. */
  def interval(ms: Long): String = {
    val time =
      f"${ms / 3600000 % 24}%02d:${ms / 60000 % 60}%02d:${ms / 1000 % 60}%02d.${ms % 1000}%03d"
    s"INTERVAL '${ms / 86400000} $time' DAY TO SECOND"
  }
}
