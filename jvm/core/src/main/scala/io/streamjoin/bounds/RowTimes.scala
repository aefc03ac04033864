package io.streamjoin.bounds

/**
 * Time values of one row, by the column numbers of a [[JoinBounds]]; only those of its own
 * input are set. Mutable: one instance serves all rows of a task.
 */
final class RowTimes(columns: Int) {
  private val values = new Array[Long](columns)
  private val present = new Array[Boolean](columns)

  def set(column: Int, value: Long): Unit = {
    values(column) = value
    present(column) = true
  }

  def setNull(column: Int): Unit = present(column) = false

  def apply(column: Int): Long = values(column)

  def isNull(column: Int): Boolean = !present(column)
}
