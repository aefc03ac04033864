package org.apache.spark.sql.streamjoin.physical.changelog

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Union}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.streamjoin.logical.plan.analysis.EquiKey
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.model.JoinType

/**
 * Required columns of a changelog join: splits the output of the query right above it into row data
 * and change metadata.
 *
 * @param list the output columns
 * @param filters conditions between the join and the output
 */
private[changelog] final class RequiredColumns(
    j: ChangelogJoin,
    val list: Seq[NamedExpression],
    filters: Seq[Expression]
) {

  private val (ofChange, ofRow) = list.partition { e =>
    // a nondeterministic value does not identify a row
    !e.deterministic || e.references.exists(j.changes.contains)
  }

  private val (columns, others) = ofRow.partition {
    case _: Attribute | Alias(_: Attribute, _) => true
    case _                                     => false
  }

  /** Expressions of the columns of a row. They are part of its identity. */
  val computed: Seq[NamedExpression] = others

  private val plainSet = AttributeSet.fromAttributeSets(
    (columns ++ ofChange ++ filters).map(_.references)
  ) -- j.changes

  /** The columns of a row that are output unchanged, or used with the change metadata. */
  val plain: Seq[Attribute] = j.output.filter(plainSet.contains)

  /** Whether all columns of an expression are in the output unchanged. */
  def contains(e: Expression): Boolean = e.references.subsetOf(plainSet)

  /**
   * Expressions of columns that are not in the output themselves: different rows may have equal
   * values.
   */
  val lossy: Seq[NamedExpression] = computed.filterNot(contains)

  /**
   * Pairs of columns that are equal by an inner join below, so that one determines the other.
   * Strings with a collation are excluded: expressions of equal strings may differ. Numbers that
   * are equal and differ in bytes are never plain keys.
   */
  private val equal: Seq[(Attribute, Attribute)] = j.children.flatMap(equalIn)

  private def equalIn(plan: LogicalPlan): Seq[(Attribute, Attribute)] = plan match {
    // the columns of a union are those of its first input, but rows of the others are from other
    // joins
    case _: Union => Nil
    case below: ChangelogJoin if below.joinType == JoinType.Inner =>
      below.equiKeys.collect {
        case EquiKey(l: Attribute, r: Attribute, _) if UnsafeRowUtils.isBinaryStable(l.dataType) =>
          l -> r
      } ++
        below.children.flatMap(equalIn)
    case other => other.children.flatMap(equalIn)
  }

  @tailrec
  private def withEqual(known: AttributeSet): AttributeSet = {
    val more = equal.flatMap { case (l, r) => Seq(l -> r, r -> l) }.collect {
      case (a, b) if known.contains(a) && !known.contains(b) => b
    }
    if (more.isEmpty) known else withEqual(known ++ AttributeSet(more))
  }

  private val known = withEqual(plainSet)

  /** Whether rows with different values of an expression have different output columns. */
  def identifies(e: Expression): Boolean = e.references.subsetOf(known) || computed.exists {
    case Alias(same, _) => same.semanticEquals(e)
    case _              => false
  }
}
