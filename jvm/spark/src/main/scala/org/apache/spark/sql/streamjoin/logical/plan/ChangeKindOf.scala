package org.apache.spark.sql.streamjoin.logical.plan

import java.util.Locale

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.ChangeKind

/**
 * A word for a kind of change as Spark's change feeds have it; another one fails the query.
 *
 * @param words in lower case, and the kind that each stands for
 */
case class ChangeKindOf(child: Expression, words: Map[String, String])
    extends UnaryExpression
    with CodegenFallback {

  override def dataType: DataType = StringType

  override def nullable: Boolean = false

  override def eval(input: InternalRow): Any = {
    val word = Option(child.eval(input)).map(_.toString)
    val kind = word.flatMap(w => words.get(w.trim.toLowerCase(Locale.ROOT)))
    UTF8String.fromString(
      kind.getOrElse(throw StreamJoinErrors.unknownChangeType(child.sql, word, words.keys.toSeq))
    )
  }

  override protected def withNewChildInternal(newChild: Expression): ChangeKindOf =
    copy(child = newChild)
}

object ChangeKindOf {

  private val synonyms: Map[ChangeKind, Seq[String]] = Map(
    ChangeKind.Insert -> Seq("+i"),
    ChangeKind.Preimage -> Seq("-u", "update_before"),
    ChangeKind.Postimage -> Seq("+u", "update_after"),
    ChangeKind.Delete -> Seq("-d")
  )

  /** The words of Spark and Delta, Flink and Iceberg. */
  val known: Map[String, String] =
    synonyms.flatMap { case (kind, others) => (kind.name +: others).map(_ -> kind.name) }
}
