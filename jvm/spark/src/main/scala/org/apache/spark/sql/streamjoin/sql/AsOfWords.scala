package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

/**
 * Rewrites `ASOF JOIN` to a call that the grammar of every Spark version accepts:
 *
 * {{{
 *   t LEFT ASOF JOIN quotes AS q MATCH_CONDITION (t.at >= q.at) ON t.k = q.k
 *   t LEFT JOIN STREAM_WINDOW(TABLE(SELECT * FROM quotes AS q ), (t.at >= q.at), 'ASOF') ON t.k = q.k
 * }}}
 *
 * Without MATCH_CONDITION, ON compares the times. ASOF may then be an alias in Spark, and the text
 * remains unchanged:
 *
 * {{{
 *   FROM orders ASOF JOIN quotes ON ...       ASOF is the alias of orders
 *   FROM orders o ASOF JOIN quotes ON ...     an as-of join: orders has an alias
 *   FROM orders LEFT ASOF JOIN quotes ON ...  an as-of join: an alias precedes the type of a join
 *   FROM orders ASOF JOIN quotes ON orders.k = ...  an as-of join: an alias would hide `orders`
 * }}}
 *
 * Spark 4.3 has the grammar of the first example, and joins tables by it if a setting enables it.
 * Then only the analyzer knows whether the inputs are tables, and the text remains unchanged, see
 * `ReplaceAsOfJoin`. If its SELECT has the hint `STREAM_JOIN`, the join is one of streams.
 *
 * Sources: the SQL references of Spark 4.3, Snowflake, DuckDB and ClickHouse.
 *
 * @param ofTables whether Spark accepts an `ASOF JOIN` of tables
 */
private[streamjoin] final class AsOfWords(text: SqlText, ofTables: Boolean) {
  import AsOfWords._
  import text._

  /** @return the edits. Throws the refusal of an invalid `ASOF JOIN`. */
  def edits: Seq[Edit] = indices.filter(isAsOf).flatMap(rewritten)

  private def isAsOf(i: Int): Boolean =
    word(i) == "ASOF" && !BeforeName(kind(i - 1)) && kind(join(i)) == "JOIN"

  /** The index of JOIN in `ASOF JOIN`, `ASOF LEFT JOIN` and `ASOF LEFT OUTER JOIN`. */
  private def join(asOf: Int): Int =
    Iterator.iterate(asOf + 1)(_ + 1).dropWhile(n => TypeWords(kind(n))).next()

  private def rewritten(i: Int): Seq[Edit] = {
    val relation = join(i) + 1
    val criteria = from(relation).find(n => isCriterion(n) || AfterRelation(kind(n))).get
    val isMatched = word(criteria) == MatchCondition
    if (isMatched && isSparks(i)) Nil
    else if (isMatched || !mayBeAlias(i) || hasNameOfLeft(i, criteria)) joined(i, criteria)
    else Nil
  }

  /** The tokens from one on, without those in parentheses. */
  private def from(n: Int): Iterator[Int] = Iterator.iterate(n)(after)

  /** Whether Spark parses the join, and the query does not say that it is one of streams. */
  private def isSparks(i: Int): Boolean = ofTables && kind(i) == "ASOF" && kind(i + 1) == "JOIN" &&
    !(typeStart(i) until i).exists(n => OtherTypes(kind(n))) && !isHinted(i)

  /** Whether the SELECT of a join has the hint `STREAM_JOIN`. */
  private def isHinted(i: Int): Boolean = {
    val select = Iterator.iterate(i)(before).find(n => n < 0 || kind(n) == "SELECT").get
    Iterator.from(select + 1)
      .takeWhile(n => kind(n) == "HENT_START" || inHints(n))
      .exists(word(_) == StreamHintWords.Hint)
  }

  private lazy val inHints = StreamHintWords.inHints(text)

  private def joined(i: Int, criteria: Int): Seq[Edit] = {
    val isOther = (typeStart(i) until join(i)).exists(n => OtherTypes(kind(n)))
    if (isOther)
      refuse(
        typeStart(i),
        join(i),
        "an ASOF JOIN is an INNER or a LEFT join, each row of the left input with one"
      )
    val begin = Seq(
      replace(i, i + 1, ""),
      insertBefore(join(i) + 1, RelationWindows.Opening)
    )
    if (word(criteria) == MatchCondition) begin ++ matched(criteria)
    else if (kind(criteria) == "ON") begin :+ insertBefore(criteria, s"), TRUE, '$Name') ")
    else refuse(i, join(i), "the ASOF JOIN has no MATCH_CONDITION")
  }

  /** Whether ASOF may be the alias of the relation before it. */
  private def mayBeAlias(i: Int): Boolean = {
    val clause = Iterator.iterate(i - 1)(before).dropWhile(!beginsClause(_)).next()
    !TypeWords(kind(i - 1)) && !Set("ON", "USING")(kind(clause)) && !hasAlias(clause + 1, i - 1)
  }

  /** Whether ON has columns of the relation before ASOF by its name, and none by the name ASOF. */
  private def hasNameOfLeft(i: Int, criteria: Int): Boolean = {
    val end = from(criteria + 1).find(n => AfterRelation(kind(n))).get
    val names = (criteria + 1 until end)
      .filter(n => kind(n + 1) == "DOT" && kind(n - 1) != "DOT")
      .map(word)
    kind(criteria) == "ON" && names.contains(word(i - 1)) && !names.contains("ASOF")
  }

  private def beginsClause(n: Int): Boolean =
    n < 0 || Clauses(kind(n)) && !(kind(n) == "FROM" && kind(n - 1) == "DISTINCT")

  /** Whether a relation from its first to its last token ends with an alias, `t q` or `t q(k)`. */
  private def hasAlias(first: Int, last: Int): Boolean = {
    val isStream = word(first) == "STREAM" && first < last && isName(first + 1)
    val name = if (kind(last) == "RIGHT_PAREN") before(last) else last
    name > (if (isStream) first + 1 else first) && isName(name) &&
    !Set("DOT", "OF")(kind(name - 1))
  }

  private def isName(n: Int): Boolean = isWord(n) && !NoAlias(kind(n)) &&
    !kind(n).endsWith("_LITERAL") && !kind(n).endsWith("_VALUE")

  /** The index of the first word of the type before ASOF, or of ASOF. */
  private def typeStart(i: Int): Int =
    if (TypeWords(kind(i - 1))) typeStart(i - 1) else i

  private def isCriterion(i: Int): Boolean = Set("ON", "USING")(kind(i)) ||
    word(i) == MatchCondition && kind(i + 1) == "LEFT_PAREN"

  private def matched(at: Int): Seq[Edit] = {
    val close = closing(at + 1)
    if (close == tokens.length) refuse(at, at, "the parenthesis of MATCH_CONDITION is not closed")
    val on = if (Set("ON", "USING")(kind(close + 1))) "" else " ON TRUE"
    Seq(
      replace(at, at + 1, "), "),
      insertBehind(close, s", '$Name')$on")
    )
  }

  private def refuse(from: Int, to: Int, reason: String): Nothing =
    throw refused(from, to)(StreamJoinErrors.unsupportedAsOf(_, reason, Instead))
}

private[streamjoin] object AsOfWords {

  /** Stands for the direction of a window: the match condition follows the relation. */
  val Name = "ASOF"

  val Instead: String =
    "Write ASOF JOIN quotes AS q MATCH_CONDITION (t.time >= q.time) ON t.symbol = q.symbol, which joins " +
      "each row of the left input with the latest row of quotes by event time. LEFT ASOF JOIN also emits " +
      "rows without a match"

  private val MatchCondition = "MATCH_CONDITION"

  /** Tokens after which ASOF is the name of a relation, of a column or an alias. */
  private val BeforeName = Set("AS", "FROM", "JOIN", "COMMA", "DOT", "LEFT_PAREN", "LATERAL")

  /** Tokens before a relation, and before the criteria of a join. */
  private val Clauses = Set("FROM", "JOIN", "COMMA", "LEFT_PAREN", "LATERAL", "ON", "USING")

  /** Words behind a relation that are no alias. */
  private val NoAlias = Set("AS", "TABLESAMPLE", "REPEATABLE", "PIVOT", "UNPIVOT", "OVER")

  private val OtherTypes = Set("RIGHT", "FULL", "SEMI", "ANTI", "CROSS", "NATURAL")

  private val TypeWords = OtherTypes ++ Set("INNER", "LEFT", "OUTER")

  /** Tokens that may follow the relation of a join without criteria. */
  private val AfterRelation =
    Set("", "RIGHT_PAREN", "COMMA") ++ SqlToken.BeginsJoin ++ RelationWindows.AfterFrom
}
