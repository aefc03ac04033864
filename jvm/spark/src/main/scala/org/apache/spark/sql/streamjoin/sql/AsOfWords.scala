package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

/**
 * Rewrites `ASOF JOIN`, which Spark's grammar has since 4.3, to a call that the grammar of earlier
 * versions accepts:
 *
 * {{{
 *   t LEFT ASOF JOIN quotes AS q MATCH_CONDITION (t.at >= q.at) ON t.k = q.k
 *   t LEFT JOIN STREAM_WINDOW(TABLE(SELECT * FROM quotes AS q ), (t.at >= q.at), 'ASOF') ON t.k = q.k
 * }}}
 *
 * Without MATCH_CONDITION, ON compares the times. If ASOF is a keyword, the text remains unchanged:
 * the query may be one of tables, which only the analyzer knows.
 *
 * Sources: the SQL references of Spark 4.3, Snowflake, DuckDB and ClickHouse.
 */
private[streamjoin] final class AsOfWords(text: String, tokens: IndexedSeq[SqlToken]) {
  import AsOfWords._

  /** @return the edits. Throws the refusal of an invalid `ASOF JOIN`. */
  def edits: Seq[Edit] = if (isQualifier) Nil else tokens.indices.filter(isAsOf).flatMap(rewritten)

  private def kind(i: Int): String = if (tokens.isDefinedAt(i)) tokens(i).kind else ""

  private def is(i: Int, word: String): Boolean = tokens.isDefinedAt(i) &&
    text.substring(tokens(i).start, tokens(i).end).toUpperCase(Locale.ROOT) == word

  /** Whether ASOF is the alias of a relation. */
  private def isQualifier: Boolean =
    tokens.indices.exists(i => is(i, "ASOF") && kind(i + 1) == "DOT")

  private def isAsOf(i: Int): Boolean =
    is(i, "ASOF") && kind(i) == "IDENTIFIER" && kind(i - 1) != "AS" && kind(join(i)) == "JOIN"

  /** The index of JOIN in `ASOF JOIN`, `ASOF LEFT JOIN` and `ASOF LEFT OUTER JOIN`. */
  private def join(asOf: Int): Int =
    if (kind(asOf + 1) != "LEFT") asOf + 1
    else if (kind(asOf + 2) == "OUTER") asOf + 3
    else asOf + 2

  private def rewritten(i: Int): Seq[Edit] = {
    val relation = join(i) + 1
    val criteria = Iterator
      .iterate(relation)(n =>
        if (kind(n) == "LEFT_PAREN") SqlToken.closing(tokens, n) + 1 else n + 1
      )
      .dropWhile(n => !isCriterion(n) && !AfterRelation(kind(n)))
      .next()
    if (OtherTypes(typeBefore(i)))
      refuse(
        i - 1,
        join(i),
        "an ASOF JOIN is an INNER or a LEFT join, each row of the left input with one"
      )
    val begin = Seq(
      Edit(tokens(i).start, tokens(i + 1).start, ""),
      RelationWindows.opening(tokens(relation))
    )
    if (is(criteria, MatchCondition)) begin ++ matched(criteria)
    else if (kind(criteria) == "ON") begin :+ insert(tokens(criteria).start, s"), TRUE, '$Name') ")
    else refuse(i, join(i), "the ASOF JOIN has no MATCH_CONDITION")
  }

  /** The type of the join if it is written before ASOF. */
  private def typeBefore(i: Int): String = kind(if (kind(i - 1) == "OUTER") i - 2 else i - 1)

  private def isCriterion(i: Int): Boolean = Set("ON", "USING")(kind(i)) ||
    is(i, MatchCondition) && kind(i + 1) == "LEFT_PAREN"

  private def matched(at: Int): Seq[Edit] = {
    val close = SqlToken.closing(tokens, at + 1)
    if (close == tokens.length) refuse(at, at, "the parenthesis of MATCH_CONDITION is not closed")
    val on = if (Set("ON", "USING")(kind(close + 1))) "" else " ON TRUE"
    Seq(
      Edit(tokens(at).start, tokens(at + 1).start, "), "),
      insert(tokens(close).end, s", '$Name')$on")
    )
  }

  private def insert(place: Int, words: String) = Edit(place, place, words)

  private def refuse(from: Int, to: Int, reason: String): Nothing =
    throw Relocation.refused(text, tokens(from).start, tokens(to).end - 1)(
      StreamJoinErrors.unsupportedAsOf(_, reason, Instead)
    )
}

private[streamjoin] object AsOfWords {

  /** Stands for the direction of a window: the match condition follows the relation. */
  val Name = "ASOF"

  val Instead: String =
    "Write ASOF JOIN quotes AS q MATCH_CONDITION (t.time >= q.time) ON t.symbol = q.symbol, which joins " +
      "each row of the left input with the latest row of quotes by event time. LEFT ASOF JOIN also emits " +
      "rows without a match"

  private val MatchCondition = "MATCH_CONDITION"

  private val OtherTypes = Set("RIGHT", "FULL", "SEMI", "ANTI", "CROSS", "NATURAL")

  /** Tokens that may follow the relation of a join without criteria. */
  private val AfterRelation = Set(
    "",
    "RIGHT_PAREN",
    "COMMA",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "FULL",
    "CROSS",
    "NATURAL"
  ) ++ RelationWindows.AfterFrom
}
