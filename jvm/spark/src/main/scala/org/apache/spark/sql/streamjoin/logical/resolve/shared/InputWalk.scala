package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.catalyst.expressions.{ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * The walk over what an input of a join is made of, from its sources up: what is found in an expression goes
 * along with the columns that are computed of it.
 *
 * At analysis: of a batch that brings nothing to an input, Spark's optimizer leaves no expression.
 *
 * @tparam T what is looked for
 */
private[resolve] abstract class InputWalk[T] {
  import InputWalk.Found

  /** What is found in the expression itself, rather than in the columns that it reads. */
  protected def own(e: Expression): Option[T]

  /** What is still there of something in a column when it is read by an expression. */
  protected def carried(what: T, column: ExprId, reader: Expression): Option[T]

  /** Whether to go on below a node; it ends at all others. */
  protected def passes(plan: LogicalPlan): Boolean

  /** What a node says itself, in place of what is below. */
  protected def told(plan: LogicalPlan): Option[Seq[Found[T]]] = None

  /** What is found of the rows of an input, and of the columns that come out of it, each under its name. */
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

  /** @param column in the value of which it is; none: in which rows there are */
  final case class Found[T](column: Option[ExprId], what: T)
}
