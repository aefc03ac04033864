package org.apache.spark.sql.streamjoin.rescale

import java.util.concurrent.ArrayBlockingQueue

import scala.util.control.NonFatal

/**
 * Makes an iterator of what an action passes to a visitor. The action runs in a thread of its own,
 * a few elements ahead.
 */
private[rescale] final class Pulled[T](action: (T => Unit) => Unit) extends Iterator[T] {
  import Pulled._

  private val queue = new ArrayBlockingQueue[Event[T]](Ahead)
  private var next0: Option[Event[T]] = None

  private val thread = new Thread(() => run(), "streamjoin-rescale")
  thread.setDaemon(true)
  thread.start()

  private def run(): Unit =
    try {
      action(element => queue.put(Element(element)))
      queue.put(End(None))
    } catch {
      case _: InterruptedException => // closed
      case e: Throwable =>
        try queue.put(End(Some(e)))
        catch { case NonFatal(_) | _: InterruptedException => }
    }

  private def peeked: Event[T] = {
    if (next0.isEmpty) next0 = Some(queue.take())
    next0.get
  }

  override def hasNext: Boolean = peeked match {
    case Element(_)       => true
    case End(Some(cause)) => throw cause
    case End(None)        => false
  }

  override def next(): T = peeked match {
    case Element(element) =>
      next0 = None
      element
    case _ =>
      hasNext
      throw new NoSuchElementException("nothing more was passed")
  }

  /** Ends the action, if it has not ended. */
  def close(): Unit = {
    thread.interrupt()
    thread.join()
  }
}

private object Pulled {
  private val Ahead = 16

  private sealed trait Event[+T]
  private final case class Element[T](element: T) extends Event[T]
  private final case class End(failure: Option[Throwable]) extends Event[Nothing]
}
