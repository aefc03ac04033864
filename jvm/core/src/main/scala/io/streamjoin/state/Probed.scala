package io.streamjoin.state

/**
 * The rows that a probe finds, one after another, as a cursor: what is said of a row is said of the one
 * that [[next]] has returned last, as `java.util.Iterator` has it. Whoever stops before the end closes
 * it. An append to the rows that are probed ends it, too.
 */
trait Probed[R] extends Iterator[BufferedRow[R]] {

  /** Notes that the row has been joined. */
  def setMatched(): Unit

  /** Takes the row away; once is enough. */
  def remove(): Unit

  /** Frees what lies behind; may be called twice. */
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
