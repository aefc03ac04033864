package io.streamjoin.benchmarks

/** What a column holds. The value of any column is computed as a Long. */
sealed trait Kind

object Kind {
  case object Number extends Kind

  /** Milliseconds since 1970. */
  case object Time extends Kind

  /** Filler; its value is its length in bytes. */
  case object Text extends Kind

  /** What becomes of a row of a changelog; its value is the place of the word in [[Change.words]]. */
  case object Change extends Kind {
    val words: IndexedSeq[String] =
      IndexedSeq("insert", "update_preimage", "update_postimage", "delete")

    val (insert, preimage, postimage, delete) = (0L, 1L, 2L, 3L)
  }
}

/** Declaration of the rows of an input to an engine. */
sealed trait Arrival

object Arrival {

  /**
   * They stay, and have an event time.
   *
   * @param time the column
   * @param lag of the watermark, in milliseconds; no row is ever late by it
   */
  final case class Ordered(time: String, lag: Long) extends Arrival

  /** They stay, and have none. */
  case object Appended extends Arrival

  /**
   * They come, change and go, each change with the whole image of its row.
   *
   * The changes of a row arrive in steps that are equal modulo [[Arrival.Lanes]]: where several sources
   * take turns with the steps, those of a row keep their order.
   *
   * @param key the unique key; none: rows are identified by all their columns, and counted
   */
  final case class Changing(key: Option[String]) extends Arrival

  /**
   * They come and change as [[Changing]] rows, and each image is valid from a time of its own.
   *
   * @param key the unique key
   * @param time the column
   * @param lag of the watermark, in milliseconds; no row is ever late by it
   */
  final case class Versioned(key: String, time: String, lag: Long) extends Arrival

  val Lanes = 16
}

final case class Column(name: String, kind: Kind, value: Long => Long)

object Column {
  def number(name: String)(value: Long => Long): Column = Column(name, Kind.Number, value)
  def time(name: String)(value: Long => Long): Column = Column(name, Kind.Time, value)
  def text(name: String)(length: Long => Long): Column = Column(name, Kind.Text, length)
  def change(kind: Long => Long): Column = Column("_change_type", Kind.Change, kind)
}

/**
 * One input: rows 0, 1, 2, ... by arithmetic, each computable without those before it.
 *
 * Rows arrive in steps, the clock that all inputs of a workload share. After the last step comes one
 * closing row: an hour in the future and with keys that meet nothing, so that every row before it comes
 * to its end in engines that never see the end of a stream. Its first column is negative.
 *
 * @param ordinal place among the inputs of its workload
 * @param steps steps before the closing row
 * @param arrivals how many rows have arrived before a step begins
 */
final class RowStream(
    val name: String,
    ordinal: Int,
    val columns: IndexedSeq[Column],
    val arrival: Arrival,
    val steps: Long,
    arrivals: Long => Long
) extends Serializable {

  /** Rows without the closing one. */
  val rows: Long = arrivals(steps)

  /** The event-time column of an input that has one. */
  def time: String = ordered.time

  /** The lag of its watermark. */
  def lag: Long = ordered.lag

  private def ordered: Arrival.Ordered = arrival match {
    case o: Arrival.Ordered              => o
    case Arrival.Versioned(_, time, lag) => Arrival.Ordered(time, lag)
    case _ => throw new NoSuchElementException(s"$name has no event time")
  }

  def arrivedBefore(step: Long): Long = if (step > steps) rows + 1 else arrivals(step)

  def indexOf(column: String): Int = columns.indexWhere(_.name == column)

  def value(row: Long, column: Int): Long =
    if (row < rows) columns(column).value(row)
    else
      columns(column).kind match {
        case Kind.Number => -1L - ordinal
        case Kind.Time   => RowStream.Begin + steps + RowStream.Silence
        case Kind.Text   => 0L
        case Kind.Change => Kind.Change.insert
      }
}

object RowStream {

  /** 2024-01-01, in milliseconds. */
  val Begin: Long = 1704067200000L

  /** By how much closing rows come later than all others: an hour, longer than any join waits. */
  private val Silence = 3600000L
}
