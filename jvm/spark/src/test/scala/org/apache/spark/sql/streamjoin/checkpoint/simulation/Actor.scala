package org.apache.spark.sql.streamjoin.checkpoint.simulation

import java.util.concurrent.{Executors, Semaphore, ThreadFactory, TimeUnit}

import scala.util.control.ControlThrowable

/**
 * A task or a maintenance that pauses between its file operations. It has a thread, but at any time
 * only one thread runs: the scheduler's, or that of one actor. So a history is deterministic.
 *
 * @param process the process in which it runs
 */
private[simulation] final class Actor(val name: String, val process: SimulatedProcess)(
    body: => Unit
) {
  import Actor._

  private val turn = new Semaphore(0)
  private val back = new Semaphore(0)
  private var started = false
  private var operations = 0
  private var next: Then = Pause
  @volatile private var thread: Thread = _

  /** Whether its thread has ended. */
  var ended: Boolean = false

  /** Whether an operation failed on purpose, so that any outcome is acceptable. */
  var disturbed: Boolean = false

  /** What it has thrown. */
  var failure: Option[Throwable] = None

  /**
   * Runs it for a number of file operations.
   *
   * @param and what happens to the next operation
   */
  def go(count: Int, and: Then): Unit = if (!ended) {
    operations = count
    next = and
    if (started) turn.release()
    else {
      started = true
      threads.execute(() => run())
    }
    if (!back.tryAcquire(HangsAfterS, TimeUnit.SECONDS)) {
      val trace = Option(thread).toSeq.flatMap(_.getStackTrace).mkString("\n  ")
      throw new IllegalStateException(s"$name waits for another actor:\n  $trace")
    }
  }

  /** Ends it, after its process has been killed. */
  def die(): Unit = if (started) go(0, Pause) else ended = true

  /** Called in its thread before a file operation. Returns what happens to the operation. */
  def operation(): Then = {
    while (operations == 0 && next == Pause) {
      back.release()
      turn.acquireUninterruptibly()
      if (process.killed) throw Killed
    }
    if (operations > 0) {
      operations -= 1
      Pause
    } else {
      disturbed = true
      // from here on it cleans up
      operations = Int.MaxValue
      next
    }
  }

  private def run(): Unit = {
    thread = Thread.currentThread
    current.set(this)
    try {
      if (process.killed) throw Killed
      body
    } catch {
      case Killed       =>
      case e: Throwable => failure = Some(e)
    } finally {
      current.remove()
      ended = true
      back.release()
    }
  }
}

private[simulation] object Actor {

  /** What happens to an operation. */
  sealed trait Then

  /** It waits until the scheduler chooses the actor again. */
  case object Pause extends Then

  /** It fails without an effect. */
  case object FailBefore extends Then

  /** It takes effect, and fails: the answer is lost. */
  case object FailAfter extends Then

  /** The process is dead. No handler of errors may go on. */
  object Killed extends ControlThrowable

  /** The actor of the running thread; null in the scheduler. */
  val current: ThreadLocal[Actor] = new ThreadLocal[Actor]

  /** So long, a thread can wait only for one that is paused. */
  private val HangsAfterS = 120L

  private val threads = Executors.newCachedThreadPool(new ThreadFactory {
    override def newThread(body: Runnable): Thread = {
      val thread = new Thread(body, "simulation")
      thread.setDaemon(true)
      thread
    }
  })
}
