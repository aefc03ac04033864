package org.apache.spark.sql.streamjoin.physical.changelog

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
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.model.Side

/**
 * Filter on the result that references one input only. A row of this input that fails is in no
 * result, so the join neither shuffles nor stores it.
 *
 * @param sql the text of the filter in a checkpoint
 */
private[changelog] final case class InputFilter(side: Side, sql: String, condition: Expression)

/**
 * Filters on the result that are pushed down to the inputs. The first batch of a checkpoint decides
 * which ones: the state lacks the rows that failed them, so they cannot be removed later. A filter
 * that is added later is not pushed down. The join evaluates all of them on its output, too.
 */
private[changelog] object InputFilter {

  /**
   * The filters that can be pushed down. An input with a declared key gets none: a row that fails
   * still replaces the old image of its key, and has the latest sequence of the key.
   *
   * @param wanted the conjuncts of the condition on the output
   */
  def of(j: ChangelogJoin, wanted: Seq[Expression]): Seq[InputFilter] = for {
    side <- Side.both
    // a filter on an input that may be padded must see the padded rows, too
    if j.joinType.always.contains(side) && !j.hasDeclaredKey(side) && !j.normalizes
    columns = AttributeSet(j.input(side).output) - j.of(side).added
    c <- wanted
    if c.references.nonEmpty && c.references.subsetOf(columns) && lasts(c) && !isInferred(c, wanted)
  } yield InputFilter(side, text(side, c), c)

  /**
   * Whether Spark may have inferred the conjunct from another one. It may do so in some versions or
   * batches only.
   */
  private def isInferred(c: Expression, all: Seq[Expression]): Boolean = c match {
    case IsNotNull(a: Attribute) => all.exists(other => other != c && other.references.contains(a))
    case _                       => false
  }

  /** Whether the filter has the same text and the same meaning at each start of the query. */
  private def lasts(c: Expression): Boolean = SessionZone.of(c).isEmpty && !c.exists {
    case _: LambdaFunction | _: PlanExpression[_] => true
    case _                                        => false
  }

  private def text(side: Side, c: Expression): String =
    c.transform { case a: Attribute => a.withQualifier(Seq(side.name)) }.sql

  /**
   * The filters that the checkpoint began with.
   *
   * @param begun the description with which the state began
   */
  def asBegun(some: Seq[InputFilter], begun: => String): Seq[InputFilter] =
    if (some.isEmpty) some
    else {
      val texts = JoinDescription.filters(begun).toSet
      some.filter(f => texts(f.sql))
    }

  /** The input with its filters on top. */
  def over(input: SparkPlan, side: Side, some: Seq[InputFilter]): SparkPlan =
    some.filter(_.side == side).map(_.condition).reduceOption(And(_, _))
      .fold(input)(FilterExec(_, input))
}
