package org.apache.spark.sql.streamjoin.physical.changelog

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeSet,
  Expression,
  IsNotNull,
  LambdaFunction,
  PlanExpression
}
import org.apache.spark.sql.execution.{FilterExec, SparkPlan}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.conditions.SessionZone
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogJoin
import org.apache.spark.sql.streamjoin.physical.stateful.StoredDescription
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.model.Side

/**
 * A filter on the result that goes by one input alone: a row of it that fails is in no result, so it need be
 * neither shuffled nor kept.
 *
 * @param sql its text in a checkpoint
 */
private[changelog] final case class InputFilter(side: Side, sql: String, condition: Expression)

/**
 * Such filters are applied to the inputs as they were when the checkpoint began: what failed them then is not held,
 * and a filter that lets more through would miss it. One that is new stays above the join, as all of them do besides.
 */
private[changelog] object InputFilter {

  /**
   * Those that can be. A row with a declared key is needed all the same: it says that the image before it is gone, and
   * which change of the key was the last.
   *
   * @param wanted which rows of the output somebody asks for
   */
  def of(j: ChangelogJoin, wanted: Seq[Expression]): Seq[InputFilter] = for {
    side <- Side.both
    // rows of another come out padded, too
    if j.joinType.always.contains(side) && !j.hasDeclaredKey(side) && !j.normalizes
    columns = AttributeSet(j.input(side).output) - j.added(side.index)
    c <- wanted
    if c.references.nonEmpty && c.references.subsetOf(columns) && lasts(c) && !isInferred(c, wanted)
  } yield InputFilter(side, text(side, c), c)

  /** Perhaps Spark's conclusion from another of them: whether it draws it may depend on its version, or on the batch. */
  private def isInferred(c: Expression, all: Seq[Expression]): Boolean = c match {
    case IsNotNull(a: Attribute) => all.exists(other => other != c && other.references.contains(a))
    case _                       => false
  }

  /** Whether it is the same, under the same text, at each start. */
  private def lasts(c: Expression): Boolean = SessionZone.of(c).isEmpty && !c.exists {
    case _: LambdaFunction | _: PlanExpression[_] => true
    case _                                        => false
  }

  private def text(side: Side, c: Expression): String =
    c.transform { case a: Attribute => a.withQualifier(Seq(side.name)) }.sql

  // ---- of a checkpoint ----

  /** The texts of those by which the rows of a checkpoint came. */
  private val began = new PerOperator[Set[String]]

  /** Of those that can be applied, those that this checkpoint began with: all, where it begins. */
  def asBegun(
      some: Seq[InputFilter],
      info: StatefulOperatorStateInfo,
      session: SparkSession
  ): Seq[InputFilter] =
    if (some.isEmpty) some
    else {
      val texts = began.of(info) {
        // a description that cannot be read is told of where the whole of it is compared
        Try(StoredDescription.of(info, session).fold(some.map(_.sql))(JoinDescription.filters))
          .getOrElse(Nil)
          .toSet
      }
      some.filter(f => texts(f.sql))
    }

  /** An input with its filters. */
  def over(input: SparkPlan, side: Side, some: Seq[InputFilter]): SparkPlan =
    some.filter(_.side == side).map(_.condition).reduceOption(And(_, _))
      .fold(input)(FilterExec(_, input))
}
