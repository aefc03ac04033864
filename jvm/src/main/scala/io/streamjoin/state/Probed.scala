package io.streamjoin.state

/**
 * The rows that a probe finds, one after another. Whoever stops before the end closes it.
 *
 * @param rows what is found
 * @param release frees what lies behind, at the end or when closed; may be called twice
 */
final class Probed[R](rows: Iterator[BufferedRow[R]], release: () => Unit = () => ())
    extends Iterator[BufferedRow[R]] {

  override def hasNext: Boolean = {
    val more = rows.hasNext
    if (!more) close()
    more
  }

  override def next(): BufferedRow[R] = rows.next()

  def close(): Unit = release()
}

object Probed {
  def nothing[R]: Probed[R] = new Probed[R](Iterator.empty)
}
