package io.streamjoin.bounds

/**
 * The time values of one row, by the numbers of a [[JoinBounds]]; only the places of the row's own
 * input are filled. Mutable, so that one instance serves for all rows of a task.
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
