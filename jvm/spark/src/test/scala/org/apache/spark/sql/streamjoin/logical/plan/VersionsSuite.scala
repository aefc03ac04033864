package org.apache.spark.sql.streamjoin.logical.plan

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.dsl.expressions._
import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression, Upper}
import org.apache.spark.sql.streamjoin.spark.NormalizeFloatingNumbers
import org.apache.spark.sql.types.{DoubleType, IntegerType, LongType}

class VersionsSuite extends AnyFunSuite {

  private val (id, level, name) = (Symbol("id").int, Symbol("level").double, Symbol("name").string)

  private def keyColumn(key: Attribute, e: Expression): Option[Attribute] =
    Versions(Symbol("deleted").boolean, Seq(key), None, carried = false).keyColumn(e)

  test("what has one value for each value of a key column") {
    assert(keyColumn(id, id).contains(id))
    assert(keyColumn(id, Cast(id, LongType)).contains(id))
    assert(keyColumn(level, NormalizeFloatingNumbers.normalize(level)).contains(level))
  }

  test("what may have one value for several of them") {
    assert(keyColumn(id, level).isEmpty)
    assert(keyColumn(name, Upper(name)).isEmpty)
    assert(keyColumn(id, Cast(id, DoubleType)).isEmpty)
    val long = Symbol("long").long
    assert(keyColumn(long, Cast(long, IntegerType)).isEmpty)
  }

  test("columns of its own, and the sequence if nobody selects it") {
    val (deleted, n) = (Symbol("deleted").boolean, Symbol("n").int)
    def hidden(carried: Boolean) = Versions(deleted, Seq(id), Some(n), carried).hidden
    assert(hidden(carried = false) == Seq(deleted))
    assert(hidden(carried = true) == Seq(deleted, n))
  }
}
