package org.apache.spark.sql.streamjoin.logical.plan.changes

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.dsl.expressions._
import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression, Upper}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.types.{DoubleType, IntegerType, LongType}

/** The columns of [[Versions]] on their own. */
class VersionsSuite extends AnyFunSuite {

  private val (id, level, name) = (Symbol("id").int, Symbol("level").double, Symbol("name").string)

  private def keyColumn(key: Attribute, e: Expression): Option[Attribute] =
    Versions(Symbol("deleted").boolean, Seq(key), None, carried = false).keyColumn(e)

  test("an injective expression of a key column has a key column") {
    assert(keyColumn(id, id).contains(id))
    assert(keyColumn(id, Cast(id, LongType)).contains(id))
    assert(keyColumn(level, NormalizeFloatingNumbers.normalize(level)).contains(level))
  }

  test("an expression that may be equal for several keys has no key column") {
    assert(keyColumn(id, level).isEmpty)
    assert(keyColumn(name, Upper(name)).isEmpty)
    assert(keyColumn(id, Cast(id, DoubleType)).isEmpty)
    val long = Symbol("long").long
    assert(keyColumn(long, Cast(long, IntegerType)).isEmpty)
  }

  test("the hidden columns are the delete flag and a sequence that the query drops") {
    val (deleted, n) = (Symbol("deleted").boolean, Symbol("n").int)
    def hidden(carried: Boolean) = Versions(deleted, Seq(id), Some(n), carried).hidden
    assert(hidden(carried = false) == Seq(deleted))
    assert(hidden(carried = true) == Seq(deleted, n))
  }
}
