package io.streamjoin.state

/**
 * Cursor over the rows that a probe finds. Calls refer to the row that [[next]] has returned
 * last, as those of `java.util.Iterator` do. A caller that stops before the end closes it. An
 * append to the probed rows ends it, too.
 */
trait Probed[R] extends Iterator[BufferedRow[R]] {

  /** Marks the row as joined. */
  def setMatched(): Unit

  /** Removes the row; a second call has no effect. */
  def remove(): Unit

  /** Frees its resources; may be called twice. */
  def close(): Unit
}

object Probed {

  def nothing[R]: Probed[R] = new Probed[R] {
    override def hasNext: Boolean = false
    override def next(): BufferedRow[R] = throw new NoSuchElementException("no rows in this probe")
    override def setMatched(): Unit = throw new IllegalStateException("no row has been returned")
    override def remove(): Unit = throw new IllegalStateException("no row has been returned")
    override def close(): Unit = ()
  }
}
