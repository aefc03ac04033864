package org.apache.spark.sql.streamjoin

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression, OuterReference}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.types.{DateType, NumericType, TimestampNTZType, TimestampType}

/** Columns and expressions as the person who wrote the query can write them again. */
private[streamjoin] object ColumnNames {

  /** The name with its alias, if it has one. */
  def of(a: Attribute): String = written(qualifier(a).takeRight(1) :+ a.name)

  /** The shortest name with an alias that means this one of the columns; none if there is none. */
  def among(columns: Seq[Attribute], a: Attribute): Option[String] = {
    val others = columns.filter(_.exprId != a.exprId).map(folded)
    val name = folded(a)
    (name.length.min(2) to name.length).find(n => !others.exists(_.endsWith(name.takeRight(n))))
      .map(n => written((qualifier(a) :+ a.name).takeRight(n)))
  }

  private def folded(a: Attribute): Seq[String] =
    (qualifier(a) :+ a.name).map(_.toLowerCase(Locale.ROOT))

  /** The alias of the first column that has one. */
  def alias(columns: Seq[Attribute]): Option[String] =
    columns.flatMap(qualifier(_).lastOption).headOption

  /**
   * The SQL of an expression as the query has it: without casts that Spark inserts between operands
   * of different types, and without its marks on columns of an outer query.
   */
  def sql(e: Expression): String = e.transform {
    case c: Cast if isInserted(c)     => c.child
    case OuterReference(a: Attribute) => aliased(a)
    case a: Attribute                 => aliased(a)
  }.sql

  private def aliased(a: Attribute): Attribute = a.withQualifier(qualifier(a).takeRight(1))

  /**
   * Whether Spark inserted a cast. Casts that the query writes as functions, `bigint(t)`, have no
   * tag. Only types between which Spark inserts casts count.
   */
  private def isInserted(c: Cast): Boolean =
    c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty && ((c.child.dataType, c.dataType) match {
      case (from, to) if from == to             => true
      case (from: NumericType, to: NumericType) => Cast.canUpCast(from, to)
      case (DateType | TimestampNTZType, TimestampType | TimestampNTZType) => true
      case _                                                               => false
    })

  def written(name: Seq[String]): String = name.map(quoted).mkString(".")

  /** A name with quotes unless it can be read without; so not `order time` and not `case`. */
  private def quoted(part: String): String = {
    val short = QuotingUtils.quoteIfNeeded(part)
    val readable = short != part || Try(CatalystSqlParser.parseExpression(part)).toOption.exists {
      case u: UnresolvedAttribute => u.nameParts == Seq(part)
      case _                      => false
    }
    if (readable) short else QuotingUtils.quoteIdentifier(part)
  }

  /** Spark gives a query without an alias one that cannot be written. */
  private def qualifier(a: Attribute): Seq[String] =
    if (a.qualifier.lastOption.contains(SubqueryAlias.generateSubqueryName())) Nil else a.qualifier
}
