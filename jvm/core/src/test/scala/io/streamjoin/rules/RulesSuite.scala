package io.streamjoin.rules

import scala.io.Source

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side

/**
 * Compares the code with the proven rules of `docs/internals/rules.md`: both give the same answer
 * in each case of `cases.txt`. `python -m tests.proofs.new_cases` writes this file. It contains
 * random cases and those with which a solver distinguishes a rule from a weakened one.
 * `tests/proofs/test_cases.py` compares both in new random cases.
 */
class RulesSuite extends AnyFunSuite {
  import CodeAnswers._

  private val lines: Seq[(String, String)] = {
    val file = Source.fromResource("io/streamjoin/rules/cases.txt")
    try file.getLines().map(two(_, " => ")).toVector
    finally file.close()
  }

  private lazy val answers = CodeAnswers.of(lines.map(_._1))

  private def kind(asked: String): String = asked.takeWhile(_ != '=')

  private val kinds = Seq(
    "groups" -> "R1: the watermark of a source column with groups",
    "columns" -> "R2 to R8, R10 to R12, R17, R27: bounds, row decisions and output of a join",
    "plan" -> "R10, R15, R18: column watermarks above joins, unions and computed times",
    "remaining" -> "R19: the earliest time that a join can still emit",
    "rivals" -> "R16: the columns that an idle input follows",
    "asof" -> "R21, R23, R24: limit, due and expired rows, and output watermarks of an as-of join",
    "order" -> "R20: the order operator emits, holds or drops each row",
    "bucket" -> "R31: buckets of time, and the neighbour with a replica",
    "long" -> "R32: arithmetic that saturates",
    "run" -> "R9, R13, R14: batches of an event-time join",
    "last" -> "R21 to R23: batches of an as-of join",
    "changelog" -> "R25 to R30: batches of a changelog join"
  )

  test("each case is of a known kind") {
    assert(lines.map(line => kind(line._1)).distinct.sorted == kinds.map(_._1).sorted)
  }

  for ((one, rules) <- kinds) test(rules) {
    for (((asked, expected), found) <- lines.zip(answers) if kind(asked) == one)
      withClue(s"$asked\n")(assert(found.toSeq.sorted == fields(expected).toSeq.sorted))
  }

  test("R8: the probe range of a row contains the probe time of each partner") {
    val found = for {
      (asked, expected) <- lines
      if kind(asked) == "columns" && fields(expected)("pairs") == "1"
      join = new JoinCase(fields(asked))
      side <- Side.both
    } yield {
      val target = join.rowsOf(side.other).probeTime(join.times)
      val rows = join.rowsOf(side)
      assert(rows.probeFrom(join.times) <= target && target <= rows.probeTo(join.times))
    }
    assert(found.length > 50)
  }
}
