package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}

/**
 * Recognizes syntax of other SQL dialects, and refuses it with the equivalent in Spark SQL. For
 * example, `JOIN d WITHIN 1 HOUR` is ksqlDB's syntax; here a condition compares the event times.
 *
 * Sources: the SQL references of Flink, ksqlDB, MySQL, RisingWave and Snowflake.
 */
private[sql] object ForeignWords {

  /**
   * Replaces an error of Spark's parser if the text has syntax of another dialect. Otherwise
   * returns the same error.
   */
  def of(text: String, refused: ParseException): ParseException = {
    val words = new Words(text, SqlToken.all(text))
    val near = Option(refused.getMessageParameters.get("error")).getOrElse("").toUpperCase
    def temporal =
      if (asksForTimeOfRow(refused))
        words.find(words.isTimeTravel).map(i => words.refused(i, i + 3)(timeOfRow))
      else None
    def phrase = (for (p <- phrases.iterator; i <- words.find(p.matches(words, _)))
      yield words.refused(i, i + p.length - 1) {
        StreamJoinErrors.otherDialect(_, p.words, p.system, p.instead)
      }).nextOption()
    temporal.orElse(phrase).orElse(interval(near, words)).getOrElse(refused)
  }

  /** `INTERVAL o.seconds SECOND`, or `10 MINUTES` where Spark stops at the unit. */
  private def interval(near: String, words: Words): Option[ParseException] = {
    def of(from: Int, to: Int)(what: String, system: String, instead: String) =
      words.refused(from, to)(StreamJoinErrors.otherDialect(_, what, system, instead))
    def ofColumn = for (i <- words.find(words.columnUnit(_).nonEmpty); unit <- words.columnUnit(i))
      yield of(i, unit)(
        "INTERVAL with an expression",
        "MySQL",
        s"${words.between(i + 1, unit)} * INTERVAL '1' ${words(unit)}"
      )
    def bare = words.find(i => words.isBareInterval(i) && near == s"'${words(i + 1)}'").map { i =>
      val amount = words.between(i, i + 1)
      val quoted = if (words.isNumber(i)) s"'$amount'" else amount
      of(i, i + 1)(
        "an interval without the word INTERVAL",
        "ksqlDB",
        s"INTERVAL $quoted ${words(i + 1)}"
      )
    }
    ofColumn.orElse(bare)
  }

  /** What to write instead of a group window or a windowing table function. Source: Flink SQL. */
  val WindowInstead =
    "GROUP BY window(order_time, '10 minutes'), or session_window(order_time, '10 minutes')"

  private def timeOfRow(origin: Origin): StreamJoinAnalysisException =
    StreamJoinErrors.unsupportedAsOf(
      origin,
      "FOR SYSTEM_TIME AS OF takes a constant time for a table, or the event time of the other input, as " +
        "in o.order_time",
      "Write the column, without a function of it; or ASOF JOIN quotes AS q MATCH_CONDITION (t.time - " +
        "INTERVAL '5' SECOND >= q.time) ON t.symbol = q.symbol"
    )

  /**
   * Recognizes a time of a row that [[RelationWindows]] does not rewrite, as in
   * `JOIN rates FOR SYSTEM_TIME AS OF date_trunc('day', o.order_time)`.
   */
  private def asksForTimeOfRow(refused: ParseException): Boolean =
    Option(
      refused.getMessageParameters.get("reason")
    ).exists(_.contains("cannot refer to any columns"))

  /**
   * @param next for each word after the first one, which words match
   */
  private final case class Phrase(first: Set[String], next: Seq[String => Boolean])(
      val words: String,
      val system: String,
      val instead: String
  ) {
    def length: Int = 1 + next.length

    def matches(in: Words, i: Int): Boolean =
      first(in(i)) && next.zipWithIndex.forall { case (accepts, n) => accepts(in(i + 1 + n)) }
  }

  private val phrases = Seq(
    Phrase(Set("WATERMARK"), Seq(_ == "FOR"))(
      "WATERMARK FOR",
      "Flink SQL",
      "the watermark in the query: FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '5' SECOND) AS o"
    ),
    Phrase(Set("TUMBLE", "HOP", "CUMULATE", "SESSION"), Seq(_ == "(", _ == "TABLE"))(
      "a windowing table function",
      "Flink SQL",
      WindowInstead
    ),
    Phrase(Set("EMIT"), Seq(Set("CHANGES", "FINAL", "ON", "AFTER", "STREAM")))(
      "EMIT",
      "ksqlDB or RisingWave SQL",
      "the query without it: a streaming query emits rows in each batch, by its output mode"
    ),
    Phrase(Set("WITHIN"), Seq(next => next == "(" || next.headOption.exists(_.isDigit)))(
      "WITHIN",
      "ksqlDB",
      "a time bound in ON: AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR"
    )
  )

  private val Units =
    Set("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
      .flatMap(unit => Seq(unit, s"${unit}S"))

  private val NumberKinds = Set("INTEGER_VALUE", "DECIMAL_VALUE")

  private val StringKinds = Set("STRING_LITERAL", "DOUBLEQUOTED_STRING")

  private val NameKinds = Set("IDENTIFIER", "BACKQUOTED_IDENTIFIER")

  /** Words of a text by index. Indexes outside the text yield empty words. */
  private final class Words(text: String, tokens: IndexedSeq[SqlToken]) {
    def apply(i: Int): String =
      if (tokens.isDefinedAt(i))
        text.substring(tokens(i).start, tokens(i).end).toUpperCase(Locale.ROOT)
      else ""

    def kind(i: Int): String = if (tokens.isDefinedAt(i)) tokens(i).kind else ""

    def at(i: Int, word: String): Boolean = apply(i) == word

    def find(accepts: Int => Boolean): Option[Int] = tokens.indices.find(accepts)

    def isTimeTravel(i: Int): Boolean =
      Seq("FOR", "SYSTEM_TIME", "AS", "OF").zipWithIndex.forall { case (word, n) =>
        at(i + n, word)
      }

    /** The index of the unit in `INTERVAL o.seconds SECOND` and `INTERVAL (o.seconds) SECOND`. */
    def columnUnit(i: Int): Option[Int] =
      if (!at(i, "INTERVAL")) None
      else {
        val last =
          if (at(i + 1, "(")) SqlToken.closing(tokens, i + 1)
          else Iterator.iterate(i + 1)(_ + 2).dropWhile(n => isName(n) && at(n + 1, ".")).next()
        Option.when((at(last, ")") || isName(last)) && Units(apply(last + 1)))(last + 1)
      }

    /** Whether `10 MINUTES` starts here, and is not part of `INTERVAL 1 HOUR 10 MINUTES`. */
    def isBareInterval(i: Int): Boolean =
      (isNumber(i) || StringKinds(kind(i))) && Units(apply(i + 1)) && !at(i - 1, "INTERVAL") &&
        !Units(apply(i - 1))

    def isNumber(i: Int): Boolean = NumberKinds(kind(i))

    private def isName(i: Int): Boolean = NameKinds(kind(i))

    /** The text from one word until another. */
    def between(from: Int, until: Int): String =
      text.substring(tokens(from).start, tokens(until - 1).end)

    def refused(from: Int, to: Int)(error: Origin => StreamJoinAnalysisException): ParseException =
      Relocation.refused(text, tokens(from).start, tokens(to).end - 1)(error)
  }
}
