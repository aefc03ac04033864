package io.streamjoin.state.segment

import java.util.concurrent.atomic.AtomicLong

/** What the states of one process hold in memory together. */
final class MemoryPool {
  private val total = new AtomicLong

  /** In bytes, as each state has last told. */
  def held: Long = total.get

  private[segment] def share(): MemoryPool.Share = new MemoryPool.Share(total)
}

private[segment] object MemoryPool {

  /** What one state holds of it. */
  final class Share(total: AtomicLong) {
    private var own = 0L

    def hold(bytes: Long): Unit = {
      total.addAndGet(bytes - own)
      own = bytes
    }

    /** How many bytes less it must hold for all to be within the limit, if each does its part. */
    def excess(limit: Long): Long = {
      val all = total.get
      if (all <= limit) 0L else own - (own.toDouble * limit / all).toLong
    }
  }
}
