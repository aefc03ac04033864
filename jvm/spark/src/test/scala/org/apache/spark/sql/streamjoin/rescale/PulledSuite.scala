package org.apache.spark.sql.streamjoin.rescale

import java.util.concurrent.CountDownLatch

import org.scalatest.funsuite.AnyFunSuite

class PulledSuite extends AnyFunSuite {

  test("the iterator returns the values that the action passes") {
    val numbers = new Pulled[Int](pass => (1 to 1000).foreach(pass))
    assert(numbers.toSeq == (1 to 1000))
    assert(!numbers.hasNext)
    numbers.close()
  }

  test("the iterator throws the exception of the action after the passed values") {
    val numbers = new Pulled[Int](pass => {
      pass(1)
      throw new IllegalStateException("failed")
    })
    assert(numbers.next() == 1)
    assert(intercept[IllegalStateException](numbers.hasNext).getMessage == "failed")
    numbers.close()
  }

  test("close ends the action") {
    val ended = new CountDownLatch(1)
    val numbers = new Pulled[Int](pass =>
      try Iterator.from(1).foreach(pass)
      finally ended.countDown()
    )
    assert(numbers.next() == 1)
    numbers.close()
    assert(ended.getCount == 0)
  }
}
