package io.streamjoin.state.segment

import java.util.concurrent.atomic.AtomicLong

/** What the states of one process hold in memory together. */
final class MemoryPool {
  private val total = new AtomicLong
  private val lasting = new AtomicLong

  /** In bytes, as each state has last told. */
  def used: Long = total.get

  /** What of it cannot go to the disk while a batch runs: all but the bytes of rows. */
  def fixed: Long = lasting.get

  private[segment] def share(): MemoryPool.Share = new MemoryPool.Share(total, lasting)
}

private[segment] object MemoryPool {

  /** What one state holds of it. */
  final class Share(total: AtomicLong, lasting: AtomicLong) {
    private var own = 0L
    private var ownFixed = 0L

    def report(bytes: Long, fixed: Long): Unit = {
      total.addAndGet(bytes - own)
      lasting.addAndGet(fixed - ownFixed)
      own = bytes
      ownFixed = fixed
    }

    /** How many bytes of the limit are its own, if each has as much of it as of what is held. */
    def part(limit: Long): Long = {
      val all = total.get
      if (all <= 0) limit else (limit.toDouble * own / all).toLong
    }

    /** How many bytes less it must hold for all to be within the limit, if each does its part. */
    def excess(limit: Long): Long = {
      val all = total.get
      if (all <= limit) 0L else own - (own.toDouble * limit / all).toLong
    }
  }
}
