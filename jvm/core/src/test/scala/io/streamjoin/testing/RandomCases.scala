package io.streamjoin.testing

import scala.util.Random

import org.scalatest.Assertions._

/**
 * Many small random cases, the same ones in each run. A failure names its seed. With
 * STREAMJOIN_SEED in the environment, only that case runs. STREAMJOIN_FIRST_SEED selects other
 * cases, STREAMJOIN_TIMES=10 runs ten times as many, STREAMJOIN_TIMES=0.1 a tenth.
 */
object RandomCases {

  private val only = sys.env.get("STREAMJOIN_SEED").map(_.toLong)
  private val first = sys.env.get("STREAMJOIN_FIRST_SEED").fold(1L)(_.toLong)
  private val times = sys.env.get("STREAMJOIN_TIMES").fold(1.0)(_.toDouble)

  def forAll(cases: Int)(check: Random => Unit): Unit =
    only.fold(Iterator.range(0, count(cases)).map(first + _))(Iterator.single).foreach { seed =>
      withClue(s"STREAMJOIN_SEED=$seed: ")(check(new Random(seed)))
    }

  private def count(cases: Int): Int = math.max(1, (cases * times).toInt)

  /** A clue for `withClue` that is evaluated only when a check fails. */
  def onFailure(text: => String): AnyRef = new AnyRef {
    override def toString: String = text
  }

  /** Whether all cases run, so that a test can assert how often something happened. */
  def all: Boolean = only.isEmpty && times >= 1
}
