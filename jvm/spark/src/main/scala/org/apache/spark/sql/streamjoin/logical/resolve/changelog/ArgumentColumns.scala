package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.{Resolver, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.errors.{ChangelogErrors, StreamJoinAnalysisException}

/**
 * Resolves the columns of an input that arguments name. A literal match comes first, as in
 * `dropDuplicates`. Without a match, the name is parsed as in `F.col`, with backticks or with the
 * alias of the input.
 */
private[resolve] final class ArgumentColumns(input: LogicalPlan, resolver: Resolver) {

  /**
   * @throws StreamJoinAnalysisException INVALID_CHANGELOG if no column or several columns have the
   *   name
   */
  def column(parameter: String, name: String): Attribute =
    called(name) match {
      case Seq(one) => one
      case Nil =>
        throw refused(
          s"there is no single column $name, given as $parameter",
          ArgumentColumns.path(name).filter(isPart).fold(
            s"one of ${input.output.map(_.name).mkString(", ")}"
          )(path =>
            s"""the nested field as a column: .withColumn("${path.last}", F.col("$name"))"""
          )
        )
      case several =>
        val path = several.head.qualifier.lastOption.toSeq :+ several.head.name
        throw refused(
          s"${several.length} columns have the name $name, given as $parameter",
          "one of them a unique name: " +
            s"select(F.col(\"${path.mkString(".")}\").alias(\"${path.mkString("_")}\"), ...)"
        )
    }

  private def called(name: String): Seq[Attribute] =
    input.output.filter(a => resolver(a.name, name)) match {
      case Nil =>
        ArgumentColumns.path(name).fold(Seq.empty[Attribute])(path =>
          input.output.filter(a =>
            (a.qualifier :+ a.name).takeRight(path.length).corresponds(path)(resolver)
          )
        )
      case some => some
    }

  /** Whether a path denotes a field of a column. */
  private def isPart(path: Seq[String]): Boolean =
    Try(input.resolve(path, resolver)).toOption.flatten.exists(!_.isInstanceOf[Attribute])

  private def refused(reason: String, expected: String): StreamJoinAnalysisException =
    ChangelogErrors.invalidChangelog(input.origin, reason, expected)
}

private[resolve] object ArgumentColumns {

  /** The parts of a name in SQL syntax; none: the syntax is wrong. */
  private def path(name: String): Option[Seq[String]] =
    Try(UnresolvedAttribute.parseAttributeName(name)).toOption.filter(_.nonEmpty)

  /** The name of one of the columns: a literal match, or else the name without backticks. */
  def plain(name: String, columns: Seq[String], resolver: Resolver): String =
    if (columns.exists(resolver(_, name))) name
    else path(name).collect { case Seq(one) => one }.getOrElse(name)
}
