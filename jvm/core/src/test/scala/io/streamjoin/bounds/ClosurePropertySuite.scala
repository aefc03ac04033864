package io.streamjoin.bounds

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side
import io.streamjoin.testing.RandomCases.onFailure
import io.streamjoin.testing.{RandomCases, TestJoin}

/** Compares the closure with all solutions of random constraint systems on a grid. */
class ClosurePropertySuite extends AnyFunSuite {

  private val top = 24
  private val far = 10

  test("a slack is the least constant that holds in every solution") {
    RandomCases.forAll(200) { random =>
      val edges = for {
        i <- 0 until 3
        j <- 0 until 3 if i != j && random.nextInt(2) == 0
      } yield TimeBound(i, j, random.nextInt(6) - 2L)
      object join extends TestJoin {
        for (i <- 0 until 3)
          column(TimeColumn(
            if (i == 0) Side.Left else Side.Right,
            s"c$i",
            watermarked = true,
            nullable = false
          ))
        private val (promised, demanded) =
          edges.partition(b => b.later > 0 && b.earlier > 0 && random.nextBoolean())
        on(demanded)
        known(promised)
      }
      withClue(onFailure(s"$edges\n")) {
        val solutions = for {
          a <- 0 to top
          b <- 0 to top
          c <- 0 to top
          s = Array(a, b, c)
          if edges.forall(e => s(e.later) >= s(e.earlier) - e.slack)
        } yield s
        assert(join.bounds.contradictory == solutions.isEmpty)
        if (solutions.nonEmpty) {
          for (i <- 0 until 3; j <- 0 until 3 if i != j) {
            val widest = solutions.iterator.map(s => s(j) - s(i)).max
            val slack = join.bounds.slack(i, j)
            if (slack == JoinBounds.Unbounded) assert(widest > far) else assert(widest == slack)
          }
        }
      }
    }
  }
}
