package org.apache.spark.sql.streamjoin.logical.plan.analysis

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo}
import org.apache.spark.sql.types.IntegerType
import org.scalatest.funsuite.AnyFunSuite

class AliasedColumnSuite extends AnyFunSuite {

  private def column(qualifier: String*) =
    AttributeReference("id", IntegerType)(qualifier = qualifier)

  test("a known alias replaces a missing qualifier and the name of a table") {
    val (ofTable, plain) = (column("spark_catalog", "default", "orders"), column())
    val known = Seq(
      AliasedColumn(ofTable, Seq("o"), isOfInput = true),
      AliasedColumn(plain, Seq("d"), isOfInput = true)
    )
    assert(AliasedColumn.restored(EqualTo(ofTable, plain), known).sql == "(o.id = d.id)")
  }

  test("without a known alias a column keeps its qualifier") {
    assert(AliasedColumn.restored(column("s", "t"), Nil).sql == "s.t.id")
  }
}
