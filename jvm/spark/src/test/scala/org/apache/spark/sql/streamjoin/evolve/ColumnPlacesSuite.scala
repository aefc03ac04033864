package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, GenericInternalRow}
import org.apache.spark.sql.streamjoin.checkpoint.StoredColumns
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ColumnOrigin
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}
import org.json4s.jackson.JsonMethods.{compact, render}
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side

class ColumnPlacesSuite extends AnyFunSuite {

  /** A column of an input: `v0` is the column `v` of source 0. */
  private def column(text: String): (Attribute, Int) =
    AttributeReference(text.init, IntegerType)() -> text.last.asDigit

  /**
   * The values of the changed columns in a stored row, in which a column has its number from 1 on.
   *
   * @param places the sources of the stored rows
   * @param now the columns of the changed rows
   * @param placesNow the sources of the changed rows
   */
  private def values(
      before: Seq[String],
      places: Seq[Int],
      now: Seq[String],
      placesNow: Seq[Int],
      rename: Map[String, String] = Map.empty,
      fill: Map[String, Any] = Map.empty,
      nulls: Set[Int] = Set.empty
  ): Seq[Any] =
    values(StructType(before.map(StructField(_, IntegerType))), places, now, placesNow)(
      rename,
      fill,
      nulls
    )

  private def values(stored: StructType, places: Seq[Int], now: Seq[String], placesNow: Seq[Int])(
      rename: Map[String, String],
      fill: Map[String, Any],
      nulls: Set[Int]
  ): Seq[Any] = {
    val columns = now.map(column)
    val row = new GenericInternalRow(stored.indices.map { i =>
      if (nulls(i + 1)) null else Int.box(i + 1)
    }.toArray[Any])
    changes(rename, fill).of(StoredInput(stored, places, places), input(columns, placesNow), Nil)
      .filter(_.now.nonEmpty).map(_.value.eval(row))
  }

  private def input(columns: Seq[(Attribute, Int)], places: Seq[Int]) = ChangedInput(
    columns.map(_._1),
    places,
    a =>
      columns.collectFirst {
        case (c, source) if c.exprId == a.exprId =>
          ColumnOrigin(Set(places.indexOf(source)).filter(_ >= 0), 1)()
      }
  )

  private def changes(
      rename: Map[String, String],
      fill: Map[String, Any] = Map.empty
  ) = new ColumnChanges(
    rename,
    fill,
    "UTC",
    _.equalsIgnoreCase(_),
    (subClass, parameters) => StateErrors.rewrite(subClass, "there", parameters: _*)
  )

  /** The values of columns of one name, if the checkpoint tells where the stored ones are from. */
  private def told(
      before: Seq[String],
      now: Seq[String],
      placesNow: Seq[Int] = Seq(0, 1),
      rename: Map[String, String] = Map.empty
  ): Seq[Any] = {
    val columns = before.map(column)
    val origins = columns.map { case (a, source) =>
      a.exprId -> ColumnOrigin(Set(source), 1)()
    }.toMap
    val part = StoredColumns.part(
      side => if (side == Side.Left) columns.map(_._1) else Nil,
      a => origins.get(a.exprId)
    )
    val stored = StoredColumns.read(compact(render(part)), Side.Left).get
    values(stored, Seq(0, 1), now, placesNow)(rename, Map.empty, Set.empty)
  }

  test("columns of one name follow their sources") {
    assert(told(Seq("v0", "v1"), Seq("v0", "v1")) == Seq(1, 2))
    assert(told(Seq("v0", "v1"), Seq("v1", "v0")) == Seq(2, 1))
    assert(told(Seq("v1", "v0"), Seq("v0", "v1")) == Seq(2, 1))
    // one of them is removed, or comes from another source now
    assert(told(Seq("v0", "v1"), Seq("v1")) == Seq(2))
    assert(told(Seq("v1"), Seq("v0", "v1")) == Seq[Any](null, 1))
    // the inputs are exchanged, and both sources have renamed the column
    val before = Seq("id0", "v0", "id1", "v1")
    assert(told(before, Seq("id1", "v1", "id0", "v0"), Seq(1, 0)) == Seq(3, 4, 1, 2))
    assert(told(before, Seq("w1", "w0"), Seq(1, 0), Map("v" -> "w")) == Seq(4, 2))
  }

  test("a column of a union is the same if they share a source") {
    def origin(all: Int*) = ColumnOrigin(all.take(1).toSet, 1)(all.toSet)
    assert(origin(0, 1).isLike(origin(1, 0)) && origin(0, 1).isLike(origin(1)))
    assert(origin(0).isLike(origin(2, 0)))
    assert(!origin(0, 1).isLike(origin(2)))
    // a sum of columns of two sources is another column
    val sum = ColumnOrigin(Set(0, 1), 1)()
    assert(sum.isLike(sum) && !sum.isLike(origin(0)) && !sum.isLike(origin(0, 2)))
  }

  test("columns of one name that the checkpoint does not tell apart are in their order") {
    val before = Seq("id", "v", "id", "v")
    assert(values(before, Seq(0, 1), Seq("id0", "v0", "id1", "v1"), Seq(0, 1)) == Seq(1, 2, 3, 4))
    // a projection has put them in this order, as it did before
    assert(values(Seq("id", "id"), Seq(0, 1), Seq("id1", "id0"), Seq(0, 1)) == Seq(1, 2))
    for (now <- Seq(Seq("id1", "v1", "id0", "v0"), Seq("id0"))) {
      val refused = intercept[StreamJoinAnalysisException] {
        values(before, Seq(0, 1), now, Seq(1, 0))
      }
      assert(refused.getCondition == "STREAM_JOIN_REWRITE.AMBIGUOUS_COLUMN")
    }
  }

  test("an added column of a padded row is NULL") {
    def x(nulls: Int*) = values(
      Seq("id", "id", "t"),
      Seq(0, 1),
      Seq("id0", "id1", "t1", "x1"),
      Seq(0, 1),
      fill = Map("x" -> 7),
      nulls = nulls.toSet
    ).last
    assert(x() == 7)
    assert(x(2) == 7)
    assert(x(1) == 7)
    assert(x(2, 3) == null)
  }

  test("an added column of a row of one input has its value in each row") {
    val found =
      values(Seq("id"), Seq(0), Seq("id0", "x0"), Seq(0), fill = Map("x" -> 7), nulls = Set(1))
    assert(found == Seq[Any](null, 7))
  }

  test("two columns exchange their names") {
    val swapped = Map("a" -> "b", "b" -> "a")
    assert(changes(swapped).renamedIn("a = b: INT") == "b = a: INT")
    assert(changes(Map("a" -> "$1")).renamedIn("a + aa") == "$1 + aa")
    assert(values(Seq("a", "b"), Seq(0), Seq("a0", "b0"), Seq(0), rename = swapped) == Seq(2, 1))
  }
}
