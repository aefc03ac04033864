package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * The hint `STREAM_JOIN` in a text. Spark's grammar takes no named arguments in a hint, but in a
 * function; and a hint of SQL, which stands on a SELECT, must be told from one of a DataFrame, which
 * stands on an input. So both of these are written as the last:
 *
 * {{{
 *   /*+ STREAM_JOIN */
 *   /*+ STREAM_JOIN(late => 'emit') */
 *   /*+ STREAM_JOIN(JOIN_OPTIONS(late => 'emit')) */
 * }}}
 */
private[streamjoin] final class StreamHintWords(text: String, tokens: IndexedSeq[SqlToken]) {

  def edits: Seq[Edit] = {
    val within = tokens.scanLeft(false) { (inside, t) =>
      if (t.is("HENT_START")) true else if (t.is("HENT_END")) false else inside
    }
    tokens.indices.filter(i => within(i) && word(i) == "STREAM_JOIN").flatMap(hint)
  }

  private def hint(i: Int): Seq[Edit] =
    if (!isAt(i + 1, "LEFT_PAREN")) Seq(insert(tokens(i).end, s"(${StreamHintWords.Name}())"))
    else if (word(i + 2) == StreamHintWords.Name) Nil
    else {
      val close = SqlToken.closing(tokens, i + 1)
      if (close >= tokens.length) Nil
      else
        Seq(
          insert(tokens(i + 1).end, s"${StreamHintWords.Name}("),
          insert(tokens(close).start, ")")
        )
    }

  private def isAt(i: Int, kind: String): Boolean = i < tokens.length && tokens(i).is(kind)

  private def word(i: Int): String =
    if (i < tokens.length) text.substring(tokens(i).start, tokens(i).end).toUpperCase else ""

  private def insert(place: Int, words: String) = Edit(place, place, words)
}

private[streamjoin] object StreamHintWords {

  private val Name = "JOIN_OPTIONS"

  /** The arguments of a hint on a SELECT. */
  object Select {
    def unapply(parameter: Expression): Option[Seq[Expression]] = parameter match {
      case UnresolvedFunction(Seq(Name), arguments, _, _, _, _, _) => Some(arguments)
      case _                                                       => None
    }
  }
}
