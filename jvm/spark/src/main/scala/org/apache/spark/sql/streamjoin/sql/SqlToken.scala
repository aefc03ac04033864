package org.apache.spark.sql.streamjoin.sql

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

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
        val kind = SqlBaseLexer.VOCABULARY.getSymbolicName(t.getType)
        SqlToken(kind, offset(t.getStartIndex), offset(t.getStopIndex + 1))
      }
      .toIndexedSeq
  }

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
