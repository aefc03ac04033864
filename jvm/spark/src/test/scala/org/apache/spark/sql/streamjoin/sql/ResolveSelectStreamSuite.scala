package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LocalRelation, Project}
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

/** The rule alone, over what Spark's parser makes of a text. */
class ResolveSelectStreamSuite extends AnyFunSuite {

  /** The list of a query after the rule, each element as `column` or `column AS name`. */
  private def list(text: String, columns: String*): Seq[String] = {
    val relation = LocalRelation(columns.map(AttributeReference(_, LongType)()))
    val parsed = CatalystSqlParser.parsePlan(text).transformUp { case _: UnresolvedRelation =>
      relation
    }
    val elements = ResolveSelectStream(parsed) match {
      case p: Project   => p.projectList
      case a: Aggregate => a.aggregateExpressions
      case other        => fail(s"neither a list nor groups:\n$other")
    }
    elements.map {
      case Alias(u: UnresolvedAttribute, name) => s"${u.name} AS $name"
      case u: UnresolvedAttribute              => u.name
      case other                               => other.sql
    }
  }

  test("a column behind STREAM is that column") {
    assert(list("SELECT STREAM id, v FROM t", "id", "v") == Seq("id", "v"))
    assert(list("SELECT stream id FROM t GROUP BY id", "id") == Seq("id"))
  }

  test("a column STREAM of the relation gets another name, as ever") {
    assert(list("SELECT STREAM id, v FROM t", "stream", "v") == Seq("STREAM AS id", "v"))
  }

  test("so it does where AS says so, and behind the first element") {
    assert(list("SELECT STREAM AS id FROM t", "v") == Seq("STREAM AS id"))
    assert(list("SELECT v, STREAM id FROM t", "v") == Seq("v", "STREAM AS id"))
  }
}
