package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{JoinAnalysis, JoinQuestion, Residual}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType

/** The conjuncts that remain to be evaluated after the probe, see [[Residual]]. */
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

  test("after a probe by key and both bounds, only a sum that may overflow remains") {
    assert(residual(sameId, from, to) == Residual(to, TrueLiteral))
  }

  test("a strict comparison remains for times at the ends of their range") {
    val after = GreaterThan(later, earlier)
    assert(residual(sameId, after, to) == Residual(And(after, to), TrueLiteral))
    assert(residual(sameId, LessThan(earlier, later), to).ofOrdinary == TrueLiteral)
  }

  test("an equality whose hash is not exact remains") {
    val sameText = EqualTo(leftText, rightText)
    assert(residual(sameText, from, to) == Residual(And(sameText, to), sameText))
    assert(residual(sameId, sameText, from, to).ofOrdinary == And(sameId, sameText))
    val nullSafe = EqualNullSafe(leftId, rightId)
    assert(residual(nullSafe, from, to).ofOrdinary == nullSafe)
  }

  test("a bound of one zoned day and a bound with a large constant remain") {
    val wide = LessThanOrEqual(later, moved(earlier, Day))
    assert(residual(sameId, from, wide).ofOrdinary == wide)
    val far = LessThanOrEqual(later, moved(moved(earlier, 1L << 60), (1L << 60) + 1))
    assert(residual(sameId, from, to, far).ofOrdinary == far)
  }

  test("a comparison of times that the probe does not use remains") {
    val other = LessThanOrEqual(ntz, laterNtz)
    assert(residual(sameId, from, to, other).ofOrdinary == other)
  }

  test("a conjunct on one input does not remain") {
    assert(residual(sameId, from, to, IsNotNull(leftText)).ofOrdinary == TrueLiteral)
  }
}
