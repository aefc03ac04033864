package io.streamjoin.state

/** The rows that a probe finds, one after another. Whoever stops before the end closes it. */
trait Probed[R] extends Iterator[BufferedRow[R]] {

  /** Frees what lies behind; may be called twice. */
  def close(): Unit
}

object Probed {

  def nothing[R]: Probed[R] = new Listed[R](Iterator.empty, () => ())

  /** @param release frees what lies behind, at the end or when closed */
  def apply[R](rows: Iterator[BufferedRow[R]], release: () => Unit = () => ()): Probed[R] =
    new Listed(rows, release)

  private final class Listed[R](rows: Iterator[BufferedRow[R]], release: () => Unit)
      extends Probed[R] {

    override def hasNext: Boolean = {
      val more = rows.hasNext
      if (!more) close()
      more
    }

    override def next(): BufferedRow[R] = rows.next()

    override def close(): Unit = release()
  }
}
