package io.streamjoin.benchmarks

/**
 * A table into which a sink writes rows by their key; of each it keeps what it comes to. Several threads may
 * write, each keys of its own.
 *
 * @param keys they are 0 until this
 */
final class KeyedTable(keys: Int) {
  private val rows = new Array[Long](keys)
  private val held = new Array[Boolean](keys)

  def holds(key: Long): Boolean = held(key.toInt)

  def row(key: Long): Long = rows(key.toInt)

  def put(key: Long, row: Long): Unit = {
    rows(key.toInt) = row
    held(key.toInt) = true
  }

  def remove(key: Long): Unit = held(key.toInt) = false
}
