package org.apache.spark.sql.streamjoin.sql

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNode
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.spark.ParsedText
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * SQL parser for windows on relations, `FOR SYSTEM_TIME AS OF`, `ASOF JOIN`, and the syntax of
 * [[StreamWords]] and [[StreamHintWords]]. It delegates everything else to another parser.
 *
 * It rewrites this syntax to Spark's own grammar, lets the delegate parse the result, and then
 * moves all positions back to the text of the user. A text without this syntax reaches the delegate
 * as the same string.
 *
 * Methods that later versions of Spark add to the interface are inherited from Spark's parser.
 */
private[streamjoin] final class StreamSqlParser(delegate: ParserInterface)
    extends ParsedText.EditingParser(delegate) {

  override def parsePlan(sqlText: String): LogicalPlan = read(sqlText)(delegate.parsePlan)

  override def parseQuery(sqlText: String): LogicalPlan = read(sqlText)(delegate.parseQuery)

  override def parseExpression(sqlText: String): Expression =
    read(sqlText)(delegate.parseExpression)

  override def parseTableIdentifier(sqlText: String): TableIdentifier =
    delegate.parseTableIdentifier(sqlText)

  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sqlText)

  override def parseMultipartIdentifier(sqlText: String): Seq[String] =
    delegate.parseMultipartIdentifier(sqlText)

  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)

  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)

  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)

  protected override def read[T <: TreeNode[_]](text: String)(parse: String => T): T = {
    val edits = edited(text)
    try {
      val parsed = parse(edits.fold(text)(_.text))
      edits.foreach(_.relocate(parsed))
      parsed
    } catch {
      case e: ParseException => throw ForeignWords.of(text, edits.fold(e)(_.relocated(e)))
    }
  }

  /** The text rewritten to Spark's own grammar; none if nothing changes. */
  private def edited(text: String): Option[EditedText] =
    if (StreamSqlParser.words.findFirstIn(text).isEmpty) None
    else
      try {
        val sql = new SqlText(text)
        val windows =
          new RelationWindows(sql).edits ++ new AsOfWords(
            sql,
            StreamSqlParser.joinsTablesAsOf
          ).edits
        val edits = windows ++ new StreamWords(sql).edits(windows.nonEmpty) ++
          new StreamHintWords(sql).edits
        Option.when(edits.nonEmpty)(new EditedText(text, edits.sortBy(e => (e.start, e.end))))
      } catch {
        case e: ParseException => throw e
        // a bug in this parser must not prevent Spark from running valid SQL
        case NonFatal(e) =>
          logWarning("Cannot search a statement for windows on relations", e)
          None
      }
}

private[streamjoin] object StreamSqlParser {

  /** Wraps a parser, unless it is wrapped already. */
  def around(delegate: ParserInterface): ParserInterface = delegate match {
    case p: StreamSqlParser => p
    case p                  => new StreamSqlParser(p)
  }

  private val words =
    s"(?i)\\b(over|system_time|stream|stream_window|asof|${DescribedFunctions.names.mkString("|")})\\b|/\\*\\+".r

  /** Whether Spark 4.3 accepts its own `ASOF JOIN`; the setting is none of earlier versions. */
  private def joinsTablesAsOf: Boolean =
    SQLConf.get.getConfString("spark.sql.join.asofJoin.enabled", "false").toBoolean
}
