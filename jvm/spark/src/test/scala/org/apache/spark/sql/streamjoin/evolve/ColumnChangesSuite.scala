package org.apache.spark.sql.streamjoin.evolve

import java.time.OffsetDateTime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.util.{ArrayData, DateTimeUtils, GenericArrayData}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ColumnOrigin
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** What the columns of stored rows become in a changed query. */
class ColumnChangesSuite extends AnyFunSuite {

  private final class Refused(val subClass: String) extends RuntimeException(subClass)

  private def column(
      name: String,
      dataType: DataType = LongType,
      nullable: Boolean = true
  ): Attribute = AttributeReference(name, dataType, nullable)()

  private def changes(
      before: String,
      now: Seq[Attribute],
      rename: Map[String, String] = Map.empty,
      fill: Map[String, Any] = Map.empty,
      required: Seq[Attribute] = Nil,
      places: Seq[Int] = Seq(0)
  )(sourceOf: Attribute => Option[Int] = _ => Some(0)): Seq[ColumnChange] =
    new ColumnChanges(
      rename,
      fill,
      "UTC",
      _.equalsIgnoreCase(_),
      (subClass, _) => new Refused(subClass)
    ).of(
      StoredInput(StructType.fromDDL(before), places, places),
      ChangedInput(
        now,
        places :+ SourceMap.New,
        a => {
          val source =
            sourceOf(a).map(s => if (s == SourceMap.New) places.length else places.indexOf(s))
          Some(ColumnOrigin(source.filter(_ >= 0).toSet, 1)())
        }
      ),
      required
    )

  private def refused(changes: => Seq[ColumnChange]): String =
    intercept[Refused](changes).subClass

  private def shown(of: Seq[ColumnChange]): Seq[(Option[String], Option[String], String)] =
    of.map(c => (c.now.map(_.name), c.before.map(_.name), c.gets))

  test("columns are kept, renamed, cast, added and removed, in the order of the query") {
    val now = Seq(column("y", StringType), column("w"), column("ID"), column("f"))
    val found = changes("id BIGINT, v INT, x STRING", now, Map("v" -> "w"), Map("f" -> 3))()
    assert(shown(found) == Seq(
      (Some("y"), None, "NULL"),
      (Some("w"), Some("v"), "the same, cast"),
      (Some("ID"), Some("id"), "the same"),
      (Some("f"), None, "3"),
      (None, Some("x"), "removed")
    ))
    val row = InternalRow(7L, 5, null)
    assert(found.map(_.value.eval(row)) == Seq[Any](null, 5L, 7L, 3L, null))
  }

  test("an added column of a key or an event time needs a value") {
    val (id, t) = (column("id"), column("t"))
    assert(refused(changes("id BIGINT", Seq(id, t), required = Seq(t))()) == "MISSING_COLUMN")
    assert(changes("id BIGINT", Seq(id, t), fill = Map("T" -> 1), required = Seq(t))().length == 2)
    assert(changes("id BIGINT", Seq(id, t), required = Seq(id))().length == 2)
    assert(refused(changes("id BIGINT", Seq(t), fill = Map("t" -> "x"))()) == "INVALID_ARGUMENT")
  }

  test("a value of fill replaces NULL in a column that is never NULL") {
    def v(nullable: Boolean) =
      changes("v INT", Seq(column("v", nullable = nullable)), fill = Map("v" -> 9))().head
    def values(of: ColumnChange) = Seq[Any](1, null).map(v => of.value.eval(InternalRow(v)))
    assert(values(v(nullable = false)) == Seq[Any](1L, 9L))
    assert(v(nullable = false).gets == "the same, cast; not NULL, but 9")
    assert(values(v(nullable = true)) == Seq[Any](1L, null))
    // of another type, it is that of an added column of another input
    val other = changes("v INT", Seq(column("v")), fill = Map("v" -> "x"))()
    assert(other.map(_.gets) == Seq("the same, cast"))
  }

  test("a time of fill has its instant in a TIMESTAMP, and its clock in other types") {
    val time = OffsetDateTime.parse("2024-05-04T12:00:00+05:30")
    def filled(dataType: DataType) =
      changes("id BIGINT", Seq(column("f", dataType)), fill = Map("f" -> time))().head.value.eval()
    val clock = DateTimeUtils.localDateTimeToMicros(time.toLocalDateTime)
    assert(filled(TimestampType) == DateTimeUtils.instantToMicros(time.toInstant))
    assert(filled(TimestampNTZType) == clock)
    assert(filled(DateType) == time.toLocalDate.toEpochDay)
    assert(filled(StringType) == UTF8String.fromString("2024-05-04 12:00:00"))
    assert(refused(changes("id BIGINT", Seq(column("f")), fill = Map("f" -> time))()) ==
      "INVALID_ARGUMENT")
  }

  test("a struct is converted by the names of its fields") {
    def becomes(now: String) = changes(
      "s STRUCT<a: INT, b: STRING, c: STRUCT<d: INT>>",
      Seq(column("s", StructType.fromDDL(now)))
    )().head
    val found = becomes("e BIGINT, c STRUCT<e: INT, D: BIGINT>, A INT")
    assert(found.gets == "the same, by field")
    val row = InternalRow(InternalRow(1, UTF8String.fromString("x"), InternalRow(5)))
    assert(found.value.eval(row) == InternalRow(null, InternalRow(null, 5L), 1))
    assert(found.value.eval(InternalRow(null)) == null)
    assert(found.value.eval(InternalRow(InternalRow(1, null, null))) == InternalRow(null, null, 1))
    assert(found.addsValues)
    assert(!becomes("a INT, b STRING, c STRUCT<d: INT>").addsValues)
    for (
      other <- Seq(
        "a SMALLINT",
        "a STRING",
        "c INT",
        "c STRUCT<d: SMALLINT>",
        "f INT NOT NULL",
        "a INT NOT NULL"
      )
    )
      assert(refused(Seq(becomes(other))) == "OTHER_TYPE", other)
  }

  test("an array and a map are converted by the fields of their elements") {
    val element = StructType.fromDDL("b INT, a BIGINT")
    val now = Seq(column("s", ArrayType(element)))
    val found = changes("s ARRAY<STRUCT<a: INT>>", now)().head
    val row = InternalRow(new GenericArrayData(Array[Any](InternalRow(1), null, InternalRow(2))))
    val converted = found.value.eval(row).asInstanceOf[ArrayData].toArray[InternalRow](element)
    assert(converted.toSeq == Seq(InternalRow(null, 1L), null, InternalRow(null, 2L)))
    assert(found.value.eval(InternalRow(null)) == null)
    assert(found.gets == "the same, by field" && found.addsValues)
    assert(refused(changes("s ARRAY<STRUCT<a: STRING>>", now)()) == "OTHER_TYPE")
    val map = Seq(column("s", MapType(StringType, LongType)))
    assert(changes("s MAP<STRING, INT>", map)().head.gets == "the same, by field")
    assert(refused(changes("s MAP<INT, INT>", map)()) == "OTHER_TYPE")
    val full = Seq(column("s", ArrayType(IntegerType, containsNull = false)))
    assert(refused(changes("s ARRAY<INT>", full)()) == "OTHER_TYPE")
  }

  test("a column is cast if the other type has each value of its type") {
    def becomes(before: String, now: DataType) =
      changes(s"v $before", Seq(column("v", now)))().head.gets
    val wider = Seq(
      "INT" -> LongType,
      "INT" -> DoubleType,
      "FLOAT" -> DoubleType,
      "VARCHAR(9)" -> StringType,
      "DECIMAL(5, 2)" -> DecimalType(7, 2)
    )
    for ((before, now) <- wider) assert(becomes(before, now) == "the same, cast", before)
    val others = Seq(
      "BIGINT" -> IntegerType,
      "DOUBLE" -> FloatType,
      "DECIMAL(7, 2)" -> DecimalType(5, 2),
      "STRING" -> LongType,
      "BIGINT" -> StringType,
      "TIMESTAMP" -> DateType
    )
    for ((before, now) <- others) assert(refused(changes(
      s"v $before",
      Seq(column("v", now))
    )()) == "OTHER_TYPE")
  }

  test("above a join, columns of one name are those of their inputs") {
    val ids = Seq.fill(3)(column("id"))
    def from(places: Option[Int]*) = (a: Attribute) => places(ids.indexWhere(_.exprId == a.exprId))
    def values(of: Seq[ColumnChange]) =
      of.filter(_.now.nonEmpty).map(_.value.eval(InternalRow(10L, 20L)))
    val two = "id BIGINT, id BIGINT"
    // in the order of the inputs, beside a third input without such a column, and beside a new source
    assert(values(changes(two, ids.take(2), places = Seq(0, 1, 2))(from(Some(0), Some(1)))) ==
      Seq(10L, 20L))
    val withNew = from(Some(SourceMap.New), Some(0), Some(1))
    assert(values(changes(two, ids, places = Seq(0, 1, 2))(withNew)) == Seq[Any](null, 10L, 20L))
    assert(values(changes(two, ids, places = Seq(0, 1))(withNew)) == Seq[Any](null, 10L, 20L))
    // one of them is left, and the checkpoint does not tell which one it is
    for (unknown <- Seq(None, Some(1), Some(5)))
      assert(refused(changes(two, ids.take(1), places = Seq(0, 1))(from(unknown))) ==
        "AMBIGUOUS_COLUMN")
  }

  test("a column of a new source is another one than a stored column of its name") {
    val id = column("id")
    val found = changes("id BIGINT", Seq(id))(_ => Some(SourceMap.New))
    assert(shown(found) == Seq((Some("id"), None, "NULL"), (None, Some("id"), "removed")))
  }
}
