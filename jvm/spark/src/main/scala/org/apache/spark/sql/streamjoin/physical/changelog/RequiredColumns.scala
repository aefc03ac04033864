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
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogJoin, EquiKey}

import io.streamjoin.model.JoinType

/**
 * What comes out of a query right above a changelog join, by what it says of a row and what of its change.
 *
 * @param list what comes out
 * @param filters conditions between the join and that
 */
private[changelog] final class RequiredColumns(
    j: ChangelogJoin,
    val list: Seq[NamedExpression],
    filters: Seq[Expression]
) {

  private val (ofChange, ofRow) = list.partition { e =>
    // what differs each time it is asked for does not tell one row from another
    !e.deterministic || e.references.exists(j.changes.contains)
  }

  private val (columns, others) = ofRow.partition {
    case _: Attribute | Alias(_: Attribute, _) => true
    case _                                     => false
  }

  /** What is made of the columns of a row, and tells them apart as far as it goes. */
  val computed: Seq[NamedExpression] = others

  private val plainSet = AttributeSet.fromAttributeSets(
    (columns ++ ofChange ++ filters).map(_.references)
  ) -- j.changes

  /** The columns of a row that come out as they are, or go into what is said of its change. */
  val plain: Seq[Attribute] = j.output.filter(plainSet.contains)

  /** Whether all columns of an expression are there as they are. */
  def contains(e: Expression): Boolean = e.references.subsetOf(plainSet)

  /** What is computed of columns that are not there themselves: in it rows that differ may be equal. */
  val lossy: Seq[NamedExpression] = computed.filterNot(contains)

  /**
   * Columns of which one tells the other, for an inner join below has found them equal. What is equal in a collation may
   * differ in what is computed of it; of numbers that are equal and yet differ none is a key as it is.
   */
  private val equal: Seq[(Attribute, Attribute)] = j.children.flatMap(equalIn)

  private def equalIn(plan: LogicalPlan): Seq[(Attribute, Attribute)] = plan match {
    // its columns are those of its first part, and rows of the others were in another join
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

  /** Whether rows that differ in the value of an expression differ in what comes out. */
  def identifies(e: Expression): Boolean = e.references.subsetOf(known) || computed.exists {
    case Alias(same, _) => same.semanticEquals(e)
    case _              => false
  }
}
