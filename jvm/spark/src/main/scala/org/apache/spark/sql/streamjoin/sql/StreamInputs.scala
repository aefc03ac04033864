package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

/**
 * Rewrites inputs that Spark's grammar does not have: `TABLE t`, `STREAM t`, `STREAM(t)`,
 * `TABLE(STREAM t)`, `(STREAM t)`. Each becomes a query in TABLE or in parentheses.
 *
 * It applies to the input of `IMPOSE_ORDER`, `FROM_CHANGELOG`, `FROM_UPSERTS`, `FROM_DEBEZIUM` and
 * `STREAM_WINDOW`.
 *
 * Source: Hazelcast SQL (`TABLE t`); Spark SQL (`STREAM t` as a relation).
 */
private[streamjoin] final class StreamInputs(text: String, tokens: IndexedSeq[SqlToken]) {
  import StreamInputs._

  def edits: Seq[Edit] = tokens.indices.filter(isInput).flatMap(input)

  private def kind(i: Int): String = if (i >= 0 && i < tokens.length) tokens(i).kind else ""

  private def word(i: Int): String =
    if (kind(i).isEmpty) ""
    else text.substring(tokens(i).start, tokens(i).end).toUpperCase(Locale.ROOT)

  private def isFunction(i: Int): Boolean = kind(i) == "IDENTIFIER" && Functions(word(i))

  /** Whether an input starts at `i`: the first argument, or the one with the name `input`. */
  private def isInput(i: Int): Boolean = kind(i - 1) match {
    case "LEFT_PAREN" => isFunction(i - 2)
    case "FAT_ARROW"  => word(i - 2) == "INPUT" && isFunction(enclosing(i) - 1)
    case _            => false
  }

  /** The index of the innermost parenthesis that is open at `i`, or -1. */
  private def enclosing(i: Int): Int = {
    var depth = 0
    var n = i - 1
    while (n >= 0 && !(depth == 0 && kind(n) == "LEFT_PAREN")) {
      if (kind(n) == "RIGHT_PAREN") depth += 1 else if (kind(n) == "LEFT_PAREN") depth -= 1
      n -= 1
    }
    n
  }

  private def input(i: Int): Seq[Edit] =
    if (isStream(i)) Seq(insert(i, s"TABLE($Query"), close(i))
    else if (kind(i) == "LEFT_PAREN" && isStream(i + 1)) Seq(insert(i + 1, Query))
    else if (kind(i) != "TABLE") Nil
    else if (kind(i + 1) == "LEFT_PAREN") {
      if (isStream(i + 2)) Seq(insert(i + 2, Query)) else Nil
    } else if (isStream(i + 1)) Seq(insert(i + 1, s"($Query"), close(i + 1))
    else if (SqlToken.isWord(kind(i + 1))) Seq(insert(i + 1, "("), close(i + 1))
    else Nil

  /** Whether STREAM at `i` is a keyword before a relation, not a name itself. */
  private def isStream(i: Int): Boolean = kind(i) == "STREAM" &&
    (kind(i + 1) == "LEFT_PAREN" || kind(i + 1).nonEmpty && SqlToken.isWord(kind(i + 1)))

  private def insert(i: Int, what: String): Edit = Edit(tokens(i).start, tokens(i).start, what)

  /** Closes a parenthesis after the argument that contains `i`. */
  private def close(i: Int): Edit = {
    var (n, depth) = (i, 0)
    while (n < tokens.length && !(depth == 0 && Seq("COMMA", "RIGHT_PAREN").contains(kind(n)))) {
      if (kind(n) == "LEFT_PAREN") depth += 1 else if (kind(n) == "RIGHT_PAREN") depth -= 1
      n += 1
    }
    Edit(tokens(n - 1).end, tokens(n - 1).end, ")")
  }
}

private[streamjoin] object StreamInputs {

  private val Functions =
    DescribedFunctions.names.map(_.toUpperCase(Locale.ROOT)).toSet + RelationWindows.Name

  private val Query = "SELECT * FROM "
}
