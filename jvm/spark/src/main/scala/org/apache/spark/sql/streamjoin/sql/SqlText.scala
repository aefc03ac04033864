package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.parser.{ParseException, SqlBaseLexer}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.spark.ParsedText

/** A SQL text and its tokens, by index. Outside the text, the kind and the word are empty. */
private[streamjoin] final class SqlText(text: String) {

  val tokens: IndexedSeq[SqlToken] = SqlToken.all(text)

  def indices: Range = tokens.indices

  def kind(i: Int): String = if (tokens.isDefinedAt(i)) tokens(i).kind else ""

  /** The text of a token in capitals. */
  def word(i: Int): String =
    if (tokens.isDefinedAt(i)) between(i, i + 1).toUpperCase(Locale.ROOT) else ""

  /** The text from one token until another. */
  def between(from: Int, until: Int): String =
    text.substring(tokens(from).start, tokens(until - 1).end)

  /** Whether a token may be a name. */
  def isWord(i: Int): Boolean = !Set("", "DOT", "UNRECOGNIZED")(kind(i)) && {
    val first = text.charAt(tokens(i).start)
    // a number may start with a dot
    first == '.' || !SqlText.Symbols.contains(first)
  }

  /** The parenthesis that closes the one at `open`; the number of tokens if none does. */
  def closing(open: Int): Int = closings.getOrElse(open, tokens.length)

  /** The token behind this one, or behind the parenthesis that closes this one. */
  def after(i: Int): Int =
    if (kind(i) == "LEFT_PAREN") (closing(i) + 1).min(tokens.length) else i + 1

  /** The token before this one, or before the parenthesis that this one closes; -1 if none. */
  def before(i: Int): Int =
    if (kind(i) == "RIGHT_PAREN") openings.getOrElse(i, 0) - 1 else i - 1

  private lazy val openings: Map[Int, Int] = {
    val open = mutable.Stack.empty[Int]
    indices.flatMap { i =>
      if (kind(i) == "LEFT_PAREN") open.push(i)
      Option.when(kind(i) == "RIGHT_PAREN" && open.nonEmpty)(i -> open.pop())
    }.toMap
  }

  private lazy val closings: Map[Int, Int] = openings.map(_.swap)

  def insertBefore(i: Int, words: String): Edit = Edit(tokens(i).start, tokens(i).start, words)

  def insertBehind(i: Int, words: String): Edit = Edit(tokens(i).end, tokens(i).end, words)

  /** Replaces the tokens from one until another, with the white space behind them. */
  def replace(from: Int, until: Int, words: String): Edit = {
    val end = if (tokens.isDefinedAt(until)) tokens(until).start else text.length
    Edit(tokens(from).start, end, words)
  }

  /** Makes an error of the parser at the tokens from one to another. */
  def refused(from: Int, to: Int)(error: Origin => StreamJoinAnalysisException): ParseException = {
    val origin = EditedText.origin(text, tokens(from).start, tokens(to).end - 1)
    val e = error(origin)
    val parameters = e.getMessageParameters.asScala.toMap
    ParsedText.error(text, origin, e.getCondition, parameters, origin.getQueryContext)
  }
}

private object SqlText {

  /** The first characters of tokens that are no names. */
  private val Symbols = "()[],;:=<>!+-*/%~&|^"
}

/**
 * A token of a SQL text.
 *
 * @param kind name of the token type in Spark's grammar; its number changes with the version
 * @param start offset of its first character in the text
 * @param end offset behind its last character
 */
private[streamjoin] final case class SqlToken(kind: String, start: Int, end: Int)

private[streamjoin] object SqlToken {

  /** The tokens of a text, without comments and white space. */
  def all(text: String): IndexedSeq[SqlToken] = {
    // the lexer accepts keywords in capitals only; converting each character separately preserves
    // offsets
    val lexer = new SqlBaseLexer(CharStreams.fromString(text.map(_.toUpper)))
    lexer.removeErrorListeners()
    val offset = offsets(text)
    Iterator
      .continually(lexer.nextToken())
      .takeWhile(_.getType != Token.EOF)
      .filter(_.getChannel == Token.DEFAULT_CHANNEL)
      .map { t =>
        SqlToken(kind(t), offset(t.getStartIndex), offset(t.getStopIndex + 1))
      }
      .toIndexedSeq
  }

  private def kind(token: Token): String =
    if (LaterKeywords(token.getText)) token.getText
    else SqlBaseLexer.VOCABULARY.getSymbolicName(token.getType)

  /** Keywords of [[StreamWords]] that are no keywords in the grammar of Spark 4.0. */
  private val LaterKeywords = Set("STREAM")

  /** Converts the lexer's offsets, which count code points. */
  private def offsets(text: String): Int => Int =
    if (text.exists(Character.isSurrogate)) text.offsetByCodePoints(0, _) else identity

  /** Tokens with which a join may begin after a relation. */
  val BeginsJoin: Set[String] = Set("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL")

  /** Keywords of standard SQL with which a clause after FROM begins. */
  val Clauses: Set[String] = Set("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")

  /** Further such keywords of Spark. */
  val FurtherClauses: Set[String] = Set("SORT", "CLUSTER", "DISTRIBUTE", "OFFSET", "WINDOW")

  val SetOperators: Set[String] = Set("UNION", "EXCEPT", "INTERSECT", "SETMINUS")
}
