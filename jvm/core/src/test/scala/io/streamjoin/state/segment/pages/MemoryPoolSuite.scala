package io.streamjoin.state.segment.pages

import org.scalatest.funsuite.AnyFunSuite

class MemoryPoolSuite extends AnyFunSuite {

  test("the excess of a share is proportional to its size, and zero within the limit") {
    val pool = new MemoryPool
    val shares = Seq(30L, 90L, 0L).map { bytes =>
      val share = pool.share()
      share.report(bytes, bytes / 3)
      share
    }
    assert(pool.used == 120 && pool.fixed == 40)
    assert(shares.map(_.excess(120)) == Seq(0, 0, 0))
    assert(shares.map(_.excess(100)) == Seq(5, 15, 0))
    assert(shares.map(_.excess(Long.MaxValue)) == Seq(0, 0, 0))
    assert(shares.map(_.excess(1)).sum >= 119)
    shares(1).report(60, 0)
    assert(pool.used == 90 && pool.fixed == 10 && shares.head.excess(100) == 0)
  }

  test("an excess of terabytes does not overflow") {
    val pool = new MemoryPool
    val share = pool.share()
    share.report(1L << 45, 0)
    assert(share.excess(1L << 44) == 1L << 44)
  }
}
