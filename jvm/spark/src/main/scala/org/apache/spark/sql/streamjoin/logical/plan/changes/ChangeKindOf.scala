package org.apache.spark.sql.streamjoin.logical.plan.changes

import java.util.Locale

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block.BlockHelper
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  In,
  Literal,
  UnaryExpression
}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.ChangeKind

/**
 * Expression that translates a row kind of a changelog into the row kind of Spark's change feeds.
 * An unknown word fails the query.
 *
 * @param words the known words in lower case, with their row kinds
 * @param column the name of the input column for errors, since a bound expression has no names
 * @param instead the advice in that error
 */
case class ChangeKindOf(child: Expression, words: Map[String, String])(
    val column: String,
    val instead: String
) extends UnaryExpression {

  override def dataType: DataType = StringType

  override def nullable: Boolean = false

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(column, instead)

  @transient private lazy val kinds = new KindWords(words, column, instead)

  override def eval(input: InternalRow): Any =
    kinds.of(child.eval(input).asInstanceOf[UTF8String])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val known = ctx.addReferenceObj("kinds", kinds)
    val word = child.genCode(ctx)
    ev.copy(
      code = code"""
        ${word.code}
        UTF8String ${ev.value} = $known.of(${word.isNull} ? null : ${word.value});""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildInternal(newChild: Expression): ChangeKindOf =
    copy(child = newChild)(column, instead)
}

private[plan] final class KindWords(words: Map[String, String], column: String, instead: String)
    extends Serializable {

  private val kinds: Map[String, UTF8String] =
    words.map { case (word, kind) => word -> UTF8String.fromString(kind) }

  // a feed has few words and spells each one alike, so a linear search is fastest
  private val (plain, kindOfPlain) =
    kinds.toArray.sortBy { case (word, kind) => (word != kind.toString, word) }
      .map { case (word, kind) => (UTF8String.fromString(word), kind) }.unzip

  def of(word: UTF8String): UTF8String = {
    var i = 0
    while (i < plain.length && !plain(i).equals(word)) i += 1
    if (i < plain.length) kindOfPlain(i) else otherwise(word)
  }

  private def otherwise(word: UTF8String): UTF8String = {
    val text = Option(word).map(_.toString)
    text
      .flatMap(t => kinds.get(t.trim.toLowerCase(Locale.ROOT)))
      .getOrElse(throw unknown(text))
  }

  /**
   * Shows a value in the message only if it has one character, such as Debezium's `t`. Otherwise it
   * shows the length: a column that was named by mistake may contain anything.
   *
   * @param word the value; none for NULL
   */
  private def unknown(word: Option[String]) = StreamJoinErrors.runtime(
    "UNKNOWN_CHANGE_TYPE",
    "column" -> column,
    "value" -> word.fold("NULL") { w =>
      if (w.length == 1) s"'$w'" else s"a value of ${w.length} characters"
    },
    "known" -> words.keys.toSeq.sorted.mkString(", "),
    "instead" -> instead
  )
}

object ChangeKindOf {

  /** Whether a row kind adds a row: an insert or the new image of an update. */
  def comes(kind: Attribute): Expression =
    In(kind, ChangeKind.all.filter(_.added).map(a => Literal(a.name)))

  private val synonyms: Map[ChangeKind, Seq[String]] = Map(
    ChangeKind.Insert -> Seq("+i"),
    ChangeKind.Preimage -> Seq("-u", "update_before"),
    ChangeKind.Postimage -> Seq("+u", "update_after"),
    ChangeKind.Delete -> Seq("-d")
  )

  /** The row kinds of Spark, Delta, Flink and Iceberg. */
  val known: Map[String, String] =
    synonyms.flatMap { case (kind, others) => (kind.name +: others).map(_ -> kind.name) }
}
