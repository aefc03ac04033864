package org.apache.spark.sql.streamjoin.sql

import java.nio.charset.StandardCharsets.UTF_8
import java.util.jar.JarFile

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try, Using}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SQLQueryTestHelper
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkSqlParser

/** The statements of Spark's own SQL tests are parsed alike with the extension and without it. */
class SparkStatementsSuite extends AnyFunSuite with SQLQueryTestHelper {

  private val folder = "sql-tests/inputs/"

  /** The statements of a file of Spark's tests, split as Spark splits them. */
  private def statements(text: String): Seq[String] = {
    val (comments, code) = splitCommentsAndCodes(text)
    getQueries(code, comments, Nil)
  }

  private val files: Seq[(String, String)] = {
    val jar = classOf[SQLQueryTestHelper].getProtectionDomain.getCodeSource.getLocation.getPath
    Using.resource(new JarFile(jar)) { j =>
      j.entries.asScala
        .filter(e => e.getName.startsWith(folder) && e.getName.endsWith(".sql"))
        .map { e =>
          e.getName.stripPrefix(folder) -> new String(j.getInputStream(e).readAllBytes(), UTF_8)
        }
        .toSeq
    }
  }

  /** Records the last string that it parsed. */
  private class Witness extends SparkSqlParser {
    var seen: String = _

    override def parsePlan(sqlText: String): LogicalPlan = {
      seen = sqlText
      super.parsePlan(sqlText)
    }
  }

  /** The plan or the error of a statement, without ids and addresses that differ each time. */
  private def parsed(parser: ParserInterface, statement: String): String = {
    val text = Try(parser.parsePlan(statement)) match {
      case Success(plan) => plan.treeString
      case Failure(e)    => s"${e.getClass.getName} ${e.getMessage}"
    }
    text.replaceAll(
      "#\\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|@[0-9a-f]+(\\[[0-9a-f]+\\])?",
      ""
    )
  }

  test("Spark's tests contain more than 300 files and 10000 statements") {
    assert(files.length > 300)
    assert(files.map { case (_, text) => statements(text).length }.sum > 10000)
  }

  for ((name, text) <- files)
    test(s"statements of $name are parsed as by Spark") {
      val witness = new Witness
      val (plain, extended) = (new SparkSqlParser, StreamSqlParser.around(witness))
      for (statement <- statements(text)) {
        val found = parsed(extended, statement)
        assert(witness.seen eq statement)
        assert(found == parsed(plain, statement))
      }
    }
}
