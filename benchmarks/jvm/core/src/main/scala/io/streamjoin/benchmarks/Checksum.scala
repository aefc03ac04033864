package io.streamjoin.benchmarks

/**
 * How many result rows there are, and a sum over them that no order changes. Retracted rows do not
 * count, whatever the order of their changes.
 *
 * @param table where rows are kept by their key, which is their first column: a row replaces the one before
 */
final class Checksum(@transient table: Option[KeyedTable] = None) extends Serializable {
  var rows: Long = 0
  var sum: Long = 0

  /** How many rows were given, or taken back. */
  var changes: Long = 0
  private var row = 0L
  private var key = 0L
  private var first = true
  private var closing = false

  /** A number, the milliseconds of a time, or the length of a text. */
  def add(value: Long): Checksum = {
    if (first) {
      key = value
      closing = value < 0
    }
    first = false
    row = Hash.mix(row * 31 + value + 1)
    this
  }

  def addNull(): Checksum = add(Checksum.Null)

  /**
   * Closes a row; what comes of a closing row counts for nothing.
   *
   * @param weight -1 for a row that is taken back
   */
  def end(weight: Int = 1): Unit = {
    if (!closing) {
      changes += 1
      if (table.isEmpty) {
        rows += weight
        sum += row * weight
      } else replace(table.get, weight > 0)
    }
    row = 0
    first = true
    closing = false
  }

  private def replace(table: KeyedTable, comes: Boolean): Unit = {
    if (table.holds(key)) {
      rows -= 1
      sum -= table.row(key)
    }
    if (comes) {
      rows += 1
      sum += row
      table.put(key, row)
    } else table.remove(key)
  }

  def merge(other: Checksum): Unit = {
    rows += other.rows
    sum += other.sum
    changes += other.changes
  }

  override def toString: String = f"$sum%016x"
}

object Checksum {
  private val Null = 0x6e756c6cL
}
