package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{CreateMap, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.{OptionValue, UnresolvedChangelog}

/**
 * Resolves a hint that declares a changelog. Spark Connect clients write it, which have only Spark's
 * DataFrame, and so does the Python package in a classic session.
 *
 * Its options are strings: `'key=id'` once for each column of the key, `'op=...'`, `'value=...'`,
 * `'sequence_by=...'`, and `'op_mapping=word=kind'` once for each word. They may also be named
 * arguments. The condition `deletes` of `from_upserts` is an expression.
 */
private[sql] object ChangelogHint {

  private val columns = Set("key", "op", "value", "sequence_by")

  val functions: Seq[String] = Seq("from_changelog", "from_upserts", "from_debezium", "to_upserts")

  def resolve(h: UnresolvedHint): LogicalPlan = {
    val (written, deletes) = h.parameters.partition(OptionValue.written(_).nonEmpty)
    val options = written.flatMap(OptionValue.written).map { option =>
      val text = option.word(option.value.toString).getOrElse(throw unknown(h, option.value.sql))
      if (!columns(option.name) && option.name != "op_mapping") throw unknown(h, option.name)
      option.name -> text
    }
    val words = options.collect { case ("op_mapping", pair) => word(h, pair) }.flatten
    UnresolvedChangelog(
      h.name.toLowerCase(Locale.ROOT),
      options.filter(o => columns(o._1)).groupMap(_._1)(_._2),
      Option.when(words.nonEmpty)(CreateMap(words)),
      deletes.headOption,
      h.child
    )
  }

  /** Splits at the last `=`, since a word may contain `=` and a kind may not. */
  private def word(h: UnresolvedHint, pair: String): Seq[Expression] = pair.lastIndexOf('=') match {
    case -1 => throw unknown(h, s"op_mapping=$pair")
    case at => Seq(Literal(pair.take(at)), Literal(pair.drop(at + 1)))
  }

  private def unknown(h: UnresolvedHint, option: String) =
    ChangelogErrors.invalidChangelog(
      h.origin,
      s"${h.name} as a hint has no option $option",
      "options such as 'key=id', 'sequence_by=updated_at', 'op_mapping=I=insert'"
    )
}
