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
private[streamjoin] final class StreamInputs(text: SqlText) {
  import StreamInputs._
  import text._

  def edits: Seq[Edit] = indices.filter(isInput).flatMap(input)

  private def isFunction(i: Int): Boolean = kind(i) == "IDENTIFIER" && Functions(word(i))

  /** Whether an input starts at `i`: the first argument, or the one with the name `input`. */
  private def isInput(i: Int): Boolean = kind(i - 1) match {
    case "LEFT_PAREN" => isFunction(i - 2)
    case "FAT_ARROW"  => word(i - 2) == "INPUT" && isFunction(enclosing(i) - 1)
    case _            => false
  }

  /** The index of the innermost parenthesis that is open at `i`, or -1. */
  private def enclosing(i: Int): Int =
    Iterator.iterate(i - 1)(before).find(n => n < 0 || kind(n) == "LEFT_PAREN").get

  private def input(i: Int): Seq[Edit] =
    if (isStream(i)) Seq(insertBefore(i, s"TABLE($Query"), close(i))
    else if (kind(i) == "LEFT_PAREN" && isStream(i + 1)) Seq(insertBefore(i + 1, Query))
    else if (kind(i) != "TABLE") Nil
    else if (kind(i + 1) == "LEFT_PAREN") {
      if (isStream(i + 2)) Seq(insertBefore(i + 2, Query)) else Nil
    } else if (isStream(i + 1)) Seq(insertBefore(i + 1, s"($Query"), close(i + 1))
    else if (isWord(i + 1)) Seq(insertBefore(i + 1, "("), close(i + 1))
    else Nil

  /** Whether STREAM at `i` is a keyword before a relation, not a name itself. */
  private def isStream(i: Int): Boolean = kind(i) == "STREAM" &&
    (kind(i + 1) == "LEFT_PAREN" || isWord(i + 1))

  /** Closes a parenthesis after the argument that contains `i`. */
  private def close(i: Int): Edit = {
    val end = Iterator.iterate(i)(after).find(n => Set("", "COMMA", "RIGHT_PAREN")(kind(n))).get
    insertBehind(end - 1, ")")
  }
}

private[streamjoin] object StreamInputs {

  private val Functions =
    DescribedFunctions.names.map(_.toUpperCase(Locale.ROOT)).toSet + RelationWindows.Name

  private val Query = "SELECT * FROM "
}
