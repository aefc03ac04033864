package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.catalyst.expressions.{ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * Bottom-up traversal of an input of a join, from its sources. It propagates properties of
 * expressions to the columns that are computed from them.
 *
 * It runs at analysis. In a batch without rows for an input, Spark's optimizer removes the
 * expressions.
 *
 * @tparam T the property
 */
private[resolve] abstract class InputWalk[T] {
  import InputWalk.Found

  /** The property of the expression itself, without those of the columns that it reads. */
  protected def own(e: Expression): Option[T]

  /** The part of a column's property that remains in an expression that reads the column. */
  protected def carried(what: T, column: ExprId, reader: Expression): Option[T]

  /** Whether the traversal continues below a node. */
  protected def passes(plan: LogicalPlan): Boolean

  /** The properties that a node declares, which replace those of its children. */
  protected def told(plan: LogicalPlan): Option[Seq[Found[T]]] = None

  /** The properties of the rows of an input, and of its output columns by name. */
  protected final def named(input: LogicalPlan): Seq[(Option[String], T)] = {
    val names = input.output.map(a => a.exprId -> a.name).toMap
    found(input).collect {
      case Found(None, what)                           => None -> what
      case Found(Some(id), what) if names.contains(id) => names.get(id) -> what
    }
  }

  private def found(plan: LogicalPlan): Seq[Found[T]] = told(plan).getOrElse {
    if (!passes(plan)) Nil
    else
      plan match {
        case Project(list, child) => computed(list.map(e => e.exprId -> e), found(child))
        case a: Aggregate =>
          computed(a.aggregateExpressions.map(e => e.exprId -> e), found(a.child))
        case Filter(condition, child) =>
          val below = found(child)
          below ++ parts(None, condition, below)
        case g: Generate =>
          val below = found(g.child)
          below ++ g.generatorOutput.flatMap(a => parts(Some(a.exprId), g.generator, below))
        case u: Union => u.children.flatMap(child => inPlace(found(child), child, u))
        case other    => other.children.flatMap(found)
      }
  }

  private def computed(columns: Seq[(ExprId, Expression)], below: Seq[Found[T]]): Seq[Found[T]] =
    below.filter(_.column.isEmpty) ++
      columns.flatMap { case (id, e) => parts(Some(id), e, below) }

  private def parts(column: Option[ExprId], e: Expression, below: Seq[Found[T]]): Seq[Found[T]] = {
    val read = e.references.map(_.exprId).toSet
    val taken = for {
      Found(Some(id), what) <- below if read(id)
      still <- carried(what, id, e)
    } yield Found(column, still)
    own(e).map(Found(column, _)).toSeq ++ taken
  }

  private def inPlace(found: Seq[Found[T]], child: LogicalPlan, union: Union): Seq[Found[T]] = {
    val place = child.output.map(_.exprId).zip(union.output.map(_.exprId)).toMap
    found.map(f => f.copy(column = f.column.map(id => place.getOrElse(id, id))))
  }
}

private[resolve] object InputWalk {

  /** @param column the column with the property; none: the property is of a filter */
  final case class Found[T](column: Option[ExprId], what: T)
}
