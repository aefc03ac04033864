package org.apache.spark.sql.streamjoin.sql

import scala.util.matching.Regex

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}

/**
 * Words by which other systems say what this project says otherwise: `ASOF JOIN`, `WATERMARK FOR`. Only
 * of a text that Spark's parser has refused.
 */
private[sql] object ForeignWords {

  private val AsOf = "(?i)\\bASOF\\s+(LEFT\\s+)?JOIN\\b".r
  private val WatermarkFor = "(?i)\\bWATERMARK\\s+FOR\\b".r

  private val MatchCondition = "(?i)\\bMATCH_CONDITION\\b".r

  /** The refusal that says what to write, if the text has such words where the parser stopped. */
  def of(text: String, refused: ParseException): ParseException = {
    def at(words: Regex)(error: Origin => StreamJoinAnalysisException) =
      words.findFirstMatchIn(text).map(m => Relocation.refused(text, m.start, m.end - 1)(error))
    val near = Option(refused.getMessageParameters.get("error")).getOrElse("").toUpperCase
    val found =
      if (near == "'ASOF'" || asOfOfTables(near, text)) at(AsOf) {
        StreamJoinErrors.unsupportedAsOf(
          _,
          "Spark's SQL has no ASOF JOIN of streams",
          "Write JOIN quotes OVER (ROWS 1 PRECEDING) AS q ON t.symbol = q.symbol, which gives each row of " +
            "the other input the last row of quotes by event time; LEFT JOIN keeps rows without one"
        )
      }
      else if (near == "'AS'") at(WatermarkFor) {
        StreamJoinErrors.wrongUse(_, "WATERMARK FOR belongs to other systems")
      }
      else None
    found.getOrElse(refused)
  }

  /** Spark 4.3 has one of tables, and misses its MATCH_CONDITION later on. */
  private def asOfOfTables(near: String, text: String): Boolean =
    Set("'ON'", "'USING'", "END OF INPUT")(near) && MatchCondition.findFirstIn(text).isEmpty
}
