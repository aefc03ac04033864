package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LocalRelation, Project}
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

/** [[ResolveSelectStream]] on its own, applied to the output of Spark's parser. */
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

  test("SELECT STREAM id selects the column id") {
    assert(list("SELECT STREAM id, v FROM t", "id", "v") == Seq("id", "v"))
    assert(list("SELECT stream id FROM t GROUP BY id", "id") == Seq("id"))
  }

  test("SELECT STREAM id is an alias if the relation has a column STREAM") {
    assert(list("SELECT STREAM id, v FROM t", "stream", "v") == Seq("STREAM AS id", "v"))
  }

  test("STREAM with AS, or behind the first element of the list, is a column with an alias") {
    assert(list("SELECT STREAM AS id FROM t", "v") == Seq("STREAM AS id"))
    assert(list("SELECT v, STREAM id FROM t", "v") == Seq("v", "STREAM AS id"))
  }
}
