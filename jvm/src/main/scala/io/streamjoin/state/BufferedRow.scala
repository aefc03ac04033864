package io.streamjoin.state

/**
 * A row that waits for partners.
 *
 * @param row the row itself
 * @param key the hash of its equality key
 * @param time the time by which it is looked up
 * @param sequence tells rows of the same key and time apart
 * @param limits for each limit of its side, the watermark above which it goes
 * @param matched whether it has been joined
 */
class BufferedRow[R](
    val row: R,
    val key: Long,
    val time: Long,
    val sequence: Long,
    val limits: Array[Long],
    var matched: Boolean
) {

  /** Whether it has been taken away from the buffer it was in. */
  private[state] var removed: Boolean = false

  /** Whether some limit is below its watermark. */
  def expired(watermarks: Array[Long]): Boolean = {
    var k = 0
    while (k < watermarks.length) {
      if (limits(k) < watermarks(k)) return true
      k += 1
    }
    false
  }
}
