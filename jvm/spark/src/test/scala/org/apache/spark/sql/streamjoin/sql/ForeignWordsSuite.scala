package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin
import org.scalatest.funsuite.AnyFunSuite

/** What is answered where a parser has stopped; Spark's versions stop at different words. */
class ForeignWordsSuite extends AnyFunSuite {

  private val asOf = "SELECT * FROM trades t ASOF JOIN quotes q"

  private def answered(text: String, near: String): Option[String] = {
    val refused = new ParseException(
      Some(text),
      Origin(line = Some(1), startPosition = Some(0)),
      "PARSE_SYNTAX_ERROR",
      Map("error" -> near, "hint" -> ""),
      Array.empty
    )
    Some(ForeignWords.of(text, refused)).filter(_ ne refused).map(_.getCondition)
  }

  test("ASOF JOIN, which Spark 4.2 does not know, and which in 4.3 has a MATCH_CONDITION") {
    val unsupported = Some("STREAM_JOIN.UNSUPPORTED_AS_OF")
    assert(answered(s"$asOf ON t.symbol = q.symbol", "'ASOF'") == unsupported)
    assert(answered(s"$asOf ON t.symbol = q.symbol", "'ON'") == unsupported)
    assert(answered(asOf, "end of input") == unsupported)
  }

  test("what is wrong elsewhere stays Spark's") {
    val whole = s"$asOf MATCH_CONDITION (t.at >= q.at) ON"
    assert(answered(s"$whole t.symbol = q.symbol AND ON", "'ON'").isEmpty)
    assert(answered("SELECT * FROM trades t JOIN quotes q ON ON", "'ON'").isEmpty)
    assert(answered(s"$asOf ON t.symbol = q.symbol WHERE )", "')'").isEmpty)
  }

  test("WATERMARK FOR") {
    val text = "SELECT * FROM t WATERMARK FOR at AS at - INTERVAL '1' MINUTE"
    assert(answered(text, "'AS'").contains("STREAM_JOIN.INVALID_IMPOSE_ORDER"))
  }
}
