package io.streamjoin.bounds

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class SaturatedSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val longs: Gen[Long] = Gen.oneOf(
    Gen.chooseNum(Long.MinValue, Long.MaxValue),
    Gen.choose(-3L, 3L),
    Gen.choose(Long.MinValue, Long.MinValue + 3),
    Gen.choose(Long.MaxValue - 3, Long.MaxValue)
  )

  private def clamp(exact: BigInt): Long =
    exact.max(BigInt(Long.MinValue)).min(BigInt(Long.MaxValue)).toLong

  test("a sum is exact or saturates at the nearest limit of Long") {
    forAll(longs, longs)((a, b) => assert(Saturated.add(a, b) == clamp(BigInt(a) + b)))
  }

  test("a difference is exact or saturates at the nearest limit of Long") {
    forAll(longs, longs)((a, b) => assert(Saturated.subtract(a, b) == clamp(BigInt(a) - b)))
  }

  test("a product is exact or saturates at the nearest limit of Long") {
    forAll(longs, longs)((a, b) => assert(Saturated.multiply(a, b) == clamp(BigInt(a) * b)))
    forAll(longs)(a => assert(Saturated.multiply(a, 1000) == clamp(BigInt(a) * 1000)))
  }
}
