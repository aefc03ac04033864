package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

/**
 * Removes syntax of streaming SQL dialects that Spark's grammar does not have and that adds nothing
 * to a plan:
 *
 *  - `SELECT STREAM`
 *  - `OUTER JOIN` for `FULL OUTER JOIN`, and a comma before FROM, in a statement that also has
 *    `SELECT STREAM` or a window on a relation
 *  - `JOIN SELECT * FROM IMPOSE_ORDER(...)` without parentheses
 *  - `TABLE(IMPOSE_ORDER(TABLE t, ...))`
 *
 * The functions that declare changelogs, such as `FROM_UPSERTS`, are treated as `IMPOSE_ORDER`.
 *
 * It also rewrites inputs of these functions and of `STREAM_WINDOW` that Spark's grammar does not
 * have: `TABLE t`, `STREAM t`, `STREAM(t)`, `TABLE(STREAM t)`, `(STREAM t)`. Each becomes a query in
 * TABLE or in parentheses.
 *
 * Source: SQLstream s-Server, "Streaming Joins"; the first draft of Hazelcast's design document;
 * Hazelcast SQL, which wraps a table function in TABLE.
 */
private[streamjoin] final class StreamWords(text: SqlText) {
  import text._

  /**
   * @param windowed whether the statement has a window on a relation
   */
  def edits(windowed: Boolean): Seq[Edit] = {
    val ours = windowed || indices.exists(i => isOurFunction(i) || isDialect(i))
    val streams = indices.filter(isSelectStream(_, ours))
    val orders = indices.filter(isBareOrder).map(i => remove(i + 1, i + 4))
    val dropped = streams.map(i => remove(i, i + 1))
    val wrappers = indices.filter(isWrappedOrder).flatMap(unwrapped)
    val inputs = indices.filter(isInput).flatMap(input)
    val dialect = windowed || streams.nonEmpty
    dropped ++ orders ++ wrappers ++ inputs ++ (if (dialect) indices.flatMap(other) else Nil)
  }

  /** Removes the tokens with indexes from `from` until `until`. */
  private def remove(from: Int, until: Int): Edit = replace(from, until, "")

  private def isOurFunction(i: Int): Boolean =
    kind(i) == "IDENTIFIER" && DescribedFunctions.names.contains(word(i).toLowerCase(Locale.ROOT))

  private def other(i: Int): Option[Edit] =
    if (isOuterAlone(i)) Some(insertBefore(i, "FULL "))
    else if (isLastComma(i)) Some(Edit(tokens(i).start, tokens(i).end, ""))
    else None

  private def isOuterAlone(i: Int): Boolean = kind(i) == "OUTER" && kind(i + 1) == "JOIN" &&
    !Seq("LEFT", "RIGHT", "FULL").contains(kind(i - 1))

  /** Whether the comma at `i` ends a list: FROM follows, and it is no column of that name. */
  private def isLastComma(i: Int): Boolean =
    kind(i) == "COMMA" && kind(i + 1) == "FROM" && !Seq("", "COMMA").contains(kind(i + 2)) &&
      !secondFrom(i + 2)

  /** Whether another FROM follows `i` before a keyword that only follows a relation. */
  private def secondFrom(i: Int): Boolean =
    Iterator.iterate(i)(after).map(kind)
      .find(k => k.isEmpty || k == "FROM" || StreamWords.AfterRelation(k))
      .contains("FROM")

  /** Whether the syntax at `i` is valid only in a dialect with `SELECT STREAM`. */
  private def isDialect(i: Int): Boolean = isLastComma(i) || isOuterAlone(i) && !isOuterAnAlias

  private lazy val isOuterAnAlias: Boolean =
    indices.exists(i => kind(i) == "OUTER" && kind(i + 1) == "DOT")

  private def isBareOrder(i: Int): Boolean =
    Seq(i, i + 1, i + 2, i + 3).map(kind) == Seq("JOIN", "SELECT", "ASTERISK", "FROM") &&
      isOurFunction(i + 4)

  private def isWrappedOrder(i: Int): Boolean =
    kind(i) == "TABLE" && Seq("FROM", "JOIN", "COMMA").contains(kind(i - 1)) &&
      kind(i + 1) == "LEFT_PAREN" && isOurFunction(i + 2) && kind(i + 3) == "LEFT_PAREN"

  /** Removes `TABLE(` at `i` and its closing parenthesis. */
  private def unwrapped(i: Int): Seq[Edit] = {
    val close = closing(i + 3) + 1
    if (kind(close) != "RIGHT_PAREN") Nil
    else Seq(remove(i, i + 2), Edit(tokens(close).start, tokens(close).end, ""))
  }

  /**
   * Whether STREAM at `i` is the keyword of `SELECT STREAM`, not a column of that name. `STREAM a`
   * may also be a column with an alias. It counts as one unless the statement has other syntax of
   * this project.
   */
  private def isSelectStream(i: Int, ours: Boolean): Boolean =
    kind(i) == "STREAM" && Seq("SELECT", "HENT_END").contains(kind(i - 1)) && {
      (kind(i + 1), kind(i + 2)) match {
        case ("", _)            => false
        case ("ASTERISK", next) => Seq("FROM", "COMMA", "EXCEPT", "").contains(next)
        case ("NOT", next)      => !StreamWords.Predicates(next)
        case (k, _) if k.endsWith("_LITERAL") || k.endsWith("_VALUE") => true
        case (k, _) if StreamWords.AfterColumn(k) || !isWord(i + 1)   => false
        case ("IDENTIFIER", _) if word(i + 1) == "ROWTIME"            => true
        case (_, next) => ours || !StreamWords.AfterAlias(next)
      }
    }

  // ---- inputs of functions ----

  private def takesInput(i: Int): Boolean =
    isOurFunction(i) || kind(i) == "IDENTIFIER" && word(i) == RelationWindows.Name

  /** Whether an input starts at `i`: the first argument, or the one with the name `input`. */
  private def isInput(i: Int): Boolean = kind(i - 1) match {
    case "LEFT_PAREN" => takesInput(i - 2)
    case "FAT_ARROW"  => word(i - 2) == "INPUT" && takesInput(enclosing(i) - 1)
    case _            => false
  }

  /** The index of the innermost parenthesis that is open at `i`, or -1. */
  private def enclosing(i: Int): Int =
    Iterator.iterate(i - 1)(before).find(n => n < 0 || kind(n) == "LEFT_PAREN").get

  private def input(i: Int): Seq[Edit] =
    if (isStream(i)) Seq(insertBefore(i, s"TABLE(${StreamWords.Query}"), close(i))
    else if (kind(i) == "LEFT_PAREN" && isStream(i + 1)) Seq(insertBefore(i + 1, StreamWords.Query))
    else if (kind(i) != "TABLE") Nil
    else if (kind(i + 1) == "LEFT_PAREN") {
      if (isStream(i + 2)) Seq(insertBefore(i + 2, StreamWords.Query)) else Nil
    } else if (isStream(i + 1)) Seq(insertBefore(i + 1, s"(${StreamWords.Query}"), close(i + 1))
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

private[streamjoin] object StreamWords {

  private val Query = "SELECT * FROM "

  private val Predicates = Set("IN", "LIKE", "ILIKE", "RLIKE", "BETWEEN")

  /** Tokens that end an element of a list, so that the word before them may be an alias. */
  private val AfterAlias = SqlToken.Clauses ++ SqlToken.SetOperators ++
    Set("", "COMMA", "FROM", "LATERAL", "RIGHT_PAREN", "SEMICOLON")

  /** Tokens that may follow a relation in FROM, but not a column with an alias. */
  private val AfterRelation = AfterAlias - "COMMA" - "FROM" - "" ++ SqlToken.BeginsJoin ++
    Set("SEMI", "ANTI", "ON", "USING")

  /** Tokens that may follow a column in a list of expressions. */
  private val AfterColumn = Predicates ++ AfterAlias ++ SqlToken.FurtherClauses ++
    Set("AS", "IS", "AND", "OR", "DIV", "COLLATE", "AT", "OVER", "INTO")
}
