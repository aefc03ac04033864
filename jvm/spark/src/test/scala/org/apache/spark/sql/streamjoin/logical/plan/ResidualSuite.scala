package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType

class ResidualSuite extends AnyFunSuite {

  private def column(name: String, dataType: DataType) = AttributeReference(name, dataType)()

  private val (leftId, rightId) = (column("id", LongType), column("id", LongType))
  private val (leftText, rightText) = (column("text", StringType), column("text", StringType))
  private val (earlier, later) = (column("earlier", TimestampType), column("later", TimestampType))
  private val (ntz, laterNtz) = (column("ntz", TimestampNTZType), column("l", TimestampNTZType))

  private def moved(time: Expression, micros: Long) =
    TimestampAddInterval(time, Literal(micros, DayTimeIntervalType()), Some("Europe/Berlin"))

  private val Day = 86400L * 1000 * 1000

  private val sameId = EqualTo(leftId, rightId)
  private val from = GreaterThanOrEqual(later, earlier)
  private val to = LessThanOrEqual(later, moved(earlier, 60L * 1000 * 1000))

  private def residual(conjuncts: Expression*): Residual =
    JoinAnalysis
      .of(JoinQuestion(
        JoinQuestion.Input.of(LocalRelation(leftId, leftText, earlier, ntz)),
        JoinQuestion.Input.of(LocalRelation(rightId, rightText, later, laterNtz)),
        JoinType.Inner,
        conjuncts.reduce(And(_, _)),
        Seq(earlier -> "earlier", later -> "later")
      ))
      .residual

  test("nothing is left where a probe settles all, but a sum that may overflow") {
    assert(residual(sameId, from, to) == Residual(to, TrueLiteral))
  }

  test("what is later than the last time there is, is computed") {
    val after = GreaterThan(later, earlier)
    assert(residual(sameId, after, to) == Residual(And(after, to), TrueLiteral))
    assert(residual(sameId, LessThan(earlier, later), to).ofOrdinary == TrueLiteral)
  }

  test("a key whose hash is not exact is compared") {
    val sameText = EqualTo(leftText, rightText)
    assert(residual(sameText, from, to) == Residual(And(sameText, to), sameText))
    assert(residual(sameId, sameText, from, to).ofOrdinary == And(sameId, sameText))
    val nullSafe = EqualNullSafe(leftId, rightId)
    assert(residual(nullSafe, from, to).ofOrdinary == nullSafe)
  }

  test("a day of a time zone, and a constant that is no small one, are computed") {
    val wide = LessThanOrEqual(later, moved(earlier, Day))
    assert(residual(sameId, from, wide).ofOrdinary == wide)
    val far = LessThanOrEqual(later, moved(moved(earlier, 1L << 60), (1L << 60) + 1))
    assert(residual(sameId, from, to, far).ofOrdinary == far)
  }

  test("a comparison of other times than those of the probe is computed") {
    val other = LessThanOrEqual(ntz, laterNtz)
    assert(residual(sameId, from, to, other).ofOrdinary == other)
  }

  test("one row's part of the condition is left to that row") {
    assert(residual(sameId, from, to, IsNotNull(leftText)).ofOrdinary == TrueLiteral)
  }
}
