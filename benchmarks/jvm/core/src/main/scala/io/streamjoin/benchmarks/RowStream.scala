package io.streamjoin.benchmarks

/** What a column holds. The value of any column is computed as a Long. */
sealed trait Kind

object Kind {
  case object Number extends Kind

  /** Milliseconds since 1970. */
  case object Time extends Kind

  /** Filler; its value is its length in bytes. */
  case object Text extends Kind
}

final case class Column(name: String, kind: Kind, value: Long => Long)

object Column {
  def number(name: String)(value: Long => Long): Column = Column(name, Kind.Number, value)
  def time(name: String)(value: Long => Long): Column = Column(name, Kind.Time, value)
  def text(name: String)(length: Long => Long): Column = Column(name, Kind.Text, length)
}

/**
 * One input: rows 0, 1, 2, ... by arithmetic, each computable without those before it.
 *
 * Rows arrive in steps, the clock that all inputs of a workload share. After the last step comes one
 * closing row: an hour in the future and with keys that meet nothing, so that every row before it comes
 * to its end in engines that never see the end of a stream. Its first column is negative.
 *
 * @param ordinal place among the inputs of its workload
 * @param time the event-time column
 * @param lag of the watermark, in milliseconds; no row is ever late by it
 * @param steps steps before the closing row
 * @param arrivals how many rows have arrived before a step begins
 */
final class RowStream(
    val name: String,
    ordinal: Int,
    val columns: IndexedSeq[Column],
    val time: String,
    val lag: Long,
    val steps: Long,
    arrivals: Long => Long
) extends Serializable {

  /** Rows without the closing one. */
  val rows: Long = arrivals(steps)

  def arrivedBefore(step: Long): Long = if (step > steps) rows + 1 else arrivals(step)

  def indexOf(column: String): Int = columns.indexWhere(_.name == column)

  def value(row: Long, column: Int): Long =
    if (row < rows) columns(column).value(row)
    else
      columns(column).kind match {
        case Kind.Number => -1L - ordinal
        case Kind.Time   => RowStream.Begin + steps + RowStream.Silence
        case Kind.Text   => 0L
      }
}

object RowStream {

  /** 2024-01-01, in milliseconds. */
  val Begin: Long = 1704067200000L

  /** By how much closing rows come later than all others: an hour, longer than any join waits. */
  private val Silence = 3600000L
}
