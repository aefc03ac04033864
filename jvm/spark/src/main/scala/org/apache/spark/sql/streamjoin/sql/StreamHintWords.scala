package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions

/**
 * Rewrites the hint `STREAM_JOIN` in a text.
 *
 * Spark's grammar accepts named arguments in a function, but not in a hint. A hint in SQL applies
 * to a SELECT, one of a DataFrame to an input, and a rule must distinguish them. Therefore the
 * first two forms are rewritten to the last one:
 *
 * {{{
 *   /*+ STREAM_JOIN */
 *   /*+ STREAM_JOIN(late => 'emit') */
 *   /*+ STREAM_JOIN(JOIN_OPTIONS(late => 'emit')) */
 * }}}
 */
private[streamjoin] final class StreamHintWords(text: SqlText) {
  import text._

  def edits: Seq[Edit] = {
    val inHints = StreamHintWords.inHints(text)
    val names = indices.filter(i => inHints(i) && isWord(i))
    names.find(i => isHintName(i) && StreamHintWords.isMisspelt(word(i))).foreach { i =>
      throw refused(i, i)(StreamHintWords.misspelt(_, word(i)))
    }
    names.filter(word(_) == StreamHintWords.Hint).flatMap(hint)
  }

  /** Whether the word at `i` is the name of a hint, not an argument. */
  private def isHintName(i: Int): Boolean =
    kind(i - 1) == "HENT_START" || kind(i - 1) == "COMMA" && kind(i + 1) == "LEFT_PAREN"

  private def hint(i: Int): Seq[Edit] =
    if (kind(i + 1) != "LEFT_PAREN") Seq(insertBehind(i, s"(${StreamHintWords.Name}())"))
    else if (word(i + 2) == StreamHintWords.Name) Nil
    else {
      val close = closing(i + 1)
      if (close >= tokens.length) Nil
      else
        Seq(
          insertBehind(i + 1, s"${StreamHintWords.Name}("),
          insertBefore(close, ")")
        )
    }
}

private[streamjoin] object StreamHintWords {

  val Hint = "STREAM_JOIN"

  /** For each token, and the place behind the last one: whether it is in a hint, or ends one. */
  def inHints(text: SqlText): IndexedSeq[Boolean] =
    text.tokens.scanLeft(false) { (inside, t) =>
      t.kind == "HENT_START" || inside && t.kind != "HENT_END"
    }

  private val Name = "JOIN_OPTIONS"

  /**
   * Whether a hint has the letters of `STREAM_JOIN` in another spelling, such as `STREAMJOIN` or
   * `STREAM_JOINS`.
   */
  def isMisspelt(hint: String): Boolean = {
    def letters(name: String) = name.filter(_.isLetter).toUpperCase(Locale.ROOT).stripSuffix("S")
    !hint.equalsIgnoreCase(Hint) && letters(hint) == letters(Hint)
  }

  def misspelt(origin: Origin, hint: String): StreamJoinAnalysisException =
    JoinOptions.refusal(s"there is no hint $hint; perhaps write $Hint")(origin)

  /** Matches the arguments of a hint on a SELECT. */
  object Select {
    def unapply(parameter: Expression): Option[Seq[Expression]] = parameter match {
      case UnresolvedFunction(Seq(name), arguments, _, _, _, _, _)
          if name.equalsIgnoreCase(Name) =>
        Some(arguments)
      case _ => None
    }
  }
}
