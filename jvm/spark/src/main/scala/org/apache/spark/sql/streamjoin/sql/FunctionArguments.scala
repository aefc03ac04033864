package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedAttribute,
  UnresolvedFunction,
  UnresolvedTableValuedFunction
}
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  FunctionTableSubqueryArgumentExpression,
  Literal,
  NamedArgumentExpression,
  ScalarSubquery
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StringType

/** Arguments of a table function, by position or name. */
private[sql] object FunctionArguments {

  /**
   * @param names names of the arguments, in their order
   * @param refused converts a reason to an error
   */
  def of(f: UnresolvedTableValuedFunction, names: Seq[String])(
      refused: String => Throwable
  ): Map[String, Expression] = {
    if (f.functionArgs.length > names.length) {
      throw refused(s"it takes at most ${names.length} arguments")
    }
    val arguments = f.functionArgs.zipWithIndex.map {
      case (NamedArgumentExpression(key, value), _) =>
        val name = key.toLowerCase(Locale.ROOT)
        if (!names.contains(name)) {
          throw refused(s"it has no argument '$key', only ${names.mkString(", ")}")
        }
        name -> value
      case (value, i) =>
        if (f.functionArgs.take(i).exists(_.isInstanceOf[NamedArgumentExpression])) {
          throw refused("an argument without a name follows a named one")
        }
        names(i) -> value
    }
    arguments.map(_._1).diff(names).foreach { name =>
      throw refused(s"the argument '$name' is given twice")
    }
    arguments.toMap
  }

  def isDescriptor(e: Expression): Boolean = e match {
    case UnresolvedFunction(Seq(name), _, _, _, _, _, _) => name.equalsIgnoreCase("DESCRIPTOR")
    case _                                               => false
  }

  /** The columns of `DESCRIPTOR(a, b)`, or of a string with one column. */
  def columns(e: Expression): Option[Seq[Seq[String]]] = e match {
    case f: UnresolvedFunction if isDescriptor(f) =>
      val names = f.arguments.collect { case a: UnresolvedAttribute => a.nameParts }
      Option.when(names.length == f.arguments.length && names.nonEmpty)(names)
    case Literal(name, StringType) if name != null =>
      Some(Seq(UnresolvedAttribute.parseAttributeName(name.toString)))
    case _ => None
  }
}

/** A relation as the argument of a function: `TABLE(t)`, or a query in parentheses. */
private[sql] object TableArgument {
  def unapply(argument: Expression): Option[LogicalPlan] = argument match {
    case t: FunctionTableSubqueryArgumentExpression => Some(t.plan)
    // Spark parses each query in parentheses as a scalar subquery
    case q: ScalarSubquery => Some(q.plan)
    case _                 => None
  }
}
