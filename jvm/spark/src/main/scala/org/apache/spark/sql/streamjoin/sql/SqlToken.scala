package org.apache.spark.sql.streamjoin.sql

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/**
 * A word of a SQL text.
 *
 * @param kind the name that Spark's grammar gives it; the numbers of tokens change with the version
 * @param start offset of its first character in the text
 * @param end offset behind its last one
 */
private[streamjoin] final case class SqlToken(kind: String, start: Int, end: Int) {
  def is(kinds: String*): Boolean = kinds.contains(kind)
}

private[streamjoin] object SqlToken {

  /** The words of a text, without comments and white space. */
  def all(text: String): IndexedSeq[SqlToken] = {
    // the lexer knows keywords in capitals only; character by character, so that offsets stay
    val lexer = new SqlBaseLexer(CharStreams.fromString(text.map(_.toUpper)))
    lexer.removeErrorListeners()
    val offset = offsets(text)
    Iterator
      .continually(lexer.nextToken())
      .takeWhile(_.getType != Token.EOF)
      .filter(_.getChannel == Token.DEFAULT_CHANNEL)
      .map { t =>
        val kind = SqlBaseLexer.VOCABULARY.getSymbolicName(t.getType)
        SqlToken(kind, offset(t.getStartIndex), offset(t.getStopIndex + 1))
      }
      .toIndexedSeq
  }

  /** The parenthesis that closes the one at `open`; behind all words if none does. */
  def closing(tokens: IndexedSeq[SqlToken], open: Int): Int = {
    var depth = 0
    var i = open
    do {
      if (tokens(i).is("LEFT_PAREN")) depth += 1
      else if (tokens(i).is("RIGHT_PAREN")) depth -= 1
      i += 1
    } while (depth > 0 && i < tokens.length)
    if (depth > 0) tokens.length else i - 1
  }

  /** The lexer counts code points. */
  private def offsets(text: String): Int => Int =
    if (text.exists(Character.isSurrogate)) text.offsetByCodePoints(0, _) else identity

  private val Symbols = Set(
    "LEFT_PAREN",
    "RIGHT_PAREN",
    "COMMA",
    "DOT",
    "LEFT_BRACKET",
    "RIGHT_BRACKET",
    "SEMICOLON",
    "EQ",
    "NSEQ",
    "NEQ",
    "NEQJ",
    "LT",
    "LTE",
    "GT",
    "GTE",
    "SHIFT_LEFT",
    "SHIFT_RIGHT",
    "SHIFT_RIGHT_UNSIGNED",
    "PLUS",
    "MINUS",
    "ASTERISK",
    "SLASH",
    "PERCENT",
    "TILDE",
    "AMPERSAND",
    "PIPE",
    "CONCAT_PIPE",
    "OPERATOR_PIPE",
    "HAT",
    "COLON",
    "DOUBLE_COLON",
    "ARROW",
    "FAT_ARROW",
    "HENT_START",
    "HENT_END",
    "BANG",
    "UNRECOGNIZED"
  )

  /** Whether a token of this kind may be a name. */
  def isWord(kind: String): Boolean = !Symbols(kind)
}
