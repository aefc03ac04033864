package io.streamjoin.state.segment.pages

import java.util.concurrent.atomic.AtomicLong

/** The memory of all states of one process. */
final class MemoryPool {
  private val total = new AtomicLong
  private val lasting = new AtomicLong

  /** Bytes in use, as each state has last reported. */
  def used: Long = total.get

  /** The part that cannot be spilled during a batch: everything except the bytes of rows. */
  def fixed: Long = lasting.get

  private[segment] def share(): MemoryPool.Share = new MemoryPool.Share(total, lasting)
}

private[segment] object MemoryPool {

  /** The share of one state. */
  final class Share(total: AtomicLong, lasting: AtomicLong) {
    private var own = 0L
    private var ownFixed = 0L

    def report(bytes: Long, fixed: Long): Unit = {
      total.addAndGet(bytes - own)
      lasting.addAndGet(fixed - ownFixed)
      own = bytes
      ownFixed = fixed
    }

    /** Its part of the limit in bytes, in proportion to its use. */
    def part(limit: Long): Long = {
      val all = total.get
      if (all <= 0) limit else (limit.toDouble * own / all).toLong
    }

    /**
     * The bytes that it must free for all states to be within the limit, if each frees its
     * part.
     */
    def excess(limit: Long): Long = {
      val all = total.get
      if (all <= limit) 0L else own - (own.toDouble * limit / all).toLong
    }
  }
}
