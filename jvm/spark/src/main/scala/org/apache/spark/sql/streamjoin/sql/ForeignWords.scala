package org.apache.spark.sql.streamjoin.sql

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
    val words = new SqlText(text)
    val near = Option(refused.getMessageParameters.get("error")).getOrElse("").toUpperCase
    def temporal =
      if (asksForTimeOfRow(refused))
        words.indices.find(isTimeTravel(words)).map(i => words.refused(i, i + 3)(timeOfRow))
      else None
    def phrase = (for (p <- phrases.iterator; i <- words.indices.find(p.matches(words, _)))
      yield words.refused(i, i + p.length - 1) {
        StreamJoinErrors.otherDialect(_, p.words, p.system, p.instead)
      }).nextOption()
    temporal.orElse(phrase).orElse(interval(near, words)).getOrElse(refused)
  }

  /** `INTERVAL o.seconds SECOND`, or `10 MINUTES` where Spark stops at the unit. */
  private def interval(near: String, words: SqlText): Option[ParseException] = {
    def of(from: Int, to: Int)(what: String, system: String, instead: String) =
      words.refused(from, to)(StreamJoinErrors.otherDialect(_, what, system, instead))
    val unitAt = columnUnit(words) _
    def ofColumn = for (i <- words.indices.find(unitAt(_).nonEmpty); unit <- unitAt(i))
      yield of(i, unit)(
        "INTERVAL with an expression",
        "MySQL",
        s"${words.between(i + 1, unit)} * INTERVAL '1' ${words.word(unit)}"
      )
    def bare = words.indices.find(i =>
      isBareInterval(words)(i) && near == s"'${words.word(i + 1)}'"
    ).map { i =>
      val amount = words.between(i, i + 1)
      val quoted = if (NumberKinds(words.kind(i))) s"'$amount'" else amount
      of(i, i + 1)(
        "an interval without the word INTERVAL",
        "ksqlDB",
        s"INTERVAL $quoted ${words.word(i + 1)}"
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

    def matches(in: SqlText, i: Int): Boolean =
      first(in.word(i)) && next.zipWithIndex.forall { case (accepts, n) =>
        accepts(in.word(i + 1 + n))
      }
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

  private def isTimeTravel(text: SqlText)(i: Int): Boolean =
    Seq("FOR", "SYSTEM_TIME", "AS", "OF") == (i until i + 4).map(text.word)

  /** The index of the unit in `INTERVAL o.seconds SECOND` and `INTERVAL (o.seconds) SECOND`. */
  private def columnUnit(text: SqlText)(i: Int): Option[Int] = {
    import text._
    def isName(n: Int) = NameKinds(kind(n))
    def last =
      if (word(i + 1) == "(") closing(i + 1)
      else Iterator.iterate(i + 1)(_ + 2).dropWhile(n => isName(n) && word(n + 1) == ".").next()
    Option.when(
      word(i) == "INTERVAL" && (word(last) == ")" || isName(last)) && Units(word(last + 1))
    )(last + 1)
  }

  /** Whether `10 MINUTES` starts here, and is not part of `INTERVAL 1 HOUR 10 MINUTES`. */
  private def isBareInterval(text: SqlText)(i: Int): Boolean = {
    import text._
    (NumberKinds(kind(i)) || StringKinds(kind(i))) && Units(word(i + 1)) &&
    word(i - 1) != "INTERVAL" && !Units(word(i - 1))
  }
}
