package org.apache.spark.sql.streamjoin.rescale

import java.time.{Instant, ZoneId}
import java.time.temporal.ChronoUnit
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.checkpoint.StoredTimes
import org.apache.spark.sql.streamjoin.logical.plan.analysis.EquiKey
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.Side

/** The keys of a join, read again from the text in its description. */
class StoredKeysSuite extends AnalysisSession {

  private val Columns = "id BIGINT, s STRING, v DOUBLE, f FLOAT, a ARRAY<DOUBLE>, " +
    "aa ARRAY<ARRAY<FLOAT>>, st STRUCT<x: DOUBLE, y: ARRAY<DOUBLE>>, " +
    "ast ARRAY<STRUCT<x: DOUBLE>>, i ARRAY<INT>, t TIMESTAMP"

  private val rows = StructType.fromDDL(Columns)

  private def keys = new StoredKeys(session, None)

  private def readings(text: String): Seq[KeyReading] = keys.of(Seq(text), Side.Left, rows)

  /** The key of a join whose inputs have these columns. */
  private def equality(key: String): EquiKey = {
    val empty = rows.fields.map(f => s"CAST(NULL AS ${f.dataType.sql}) AS ${f.name}")
    for (name <- Seq("x", "y"))
      ordered(stream(empty.toSeq.filterNot(_.endsWith(" t")) :+ "timestamp AS t": _*), "t")
        .createOrReplaceTempView(name)
    val shown = "\\b(id|s|v|f|a|aa|st|ast|i)\\b(?!\\()"
    val join = session.sql(
      s"SELECT x.id FROM x JOIN y ON ${key.replaceAll(shown, "x.$1")} = " +
        s"${key.replaceAll(shown, "y.$1")} AND y.t BETWEEN x.t AND x.t + INTERVAL 1 HOUR"
    )
    planOf(join).collectFirst { case j: StreamJoin => j }.get.analysis.equiKeys.head
  }

  private def row(number: Double): InternalRow = CatalystTypeConverters.createToCatalystConverter(
    rows
  )(Row(
    7L,
    "Some",
    number,
    number.toFloat,
    Seq(1.5, number),
    Seq(Seq(number.toFloat)),
    Row(number, Seq(number)),
    Seq(Row(number)),
    Seq(1, 2),
    java.sql.Timestamp.valueOf("2024-05-04 10:00:00")
  )).asInstanceOf[InternalRow]

  for (
    key <- Seq(
      "v",
      "f",
      "a",
      "aa",
      "st",
      "ast",
      "st.x",
      "st.y",
      "a[1]",
      "i",
      "id + 1",
      "lower(s)",
      "CAST(v AS STRING)",
      "coalesce(v, 0D)",
      "CASE WHEN id > 3 THEN v END",
      "array(v)",
      "named_struct('k', v, 'l', s)",
      "substring(s, 1, 3)",
      "size(a)"
    )
  )
    test(s"the key $key is read as the join computes it") {
      val k = equality(key)
      val reading = readings(StoredTimes.sql(k)).head
      val columns: Seq[Attribute] = DataTypeUtils.toAttributes(rows)
      val original = k.left.transform { case a: Attribute => columns.find(_.name == a.name).get }
      val expected = UnsafeProjection.create(Seq(original), columns)
      val found = UnsafeProjection.create(reading.expressions, reading.columns)
      for (number <- Seq(0.0, -0.0, Double.NaN, 2.5))
        assert(found(row(number)).copy() == expected(row(number)).copy(), number)
      assert(found(row(-0.0)).copy() == found(row(0.0)).copy() || key.contains("STRING"))
    }

  private lazy val calls = new AtomicInteger

  private lazy val registered: Unit = {
    val count = () => calls.incrementAndGet()
    session.udf.register("of_session", (x: Long) => { count(); x })
    // a function of the session with the name of one of Spark
    session.udf.register("abs", (x: Long) => { count(); x })
    ()
  }

  for (
    (key, named) <- Seq(
      "of_session(id)" -> "the function of_session",
      "id + of_session(id)" -> "the function of_session",
      "streamjoin_joins('/')" -> "the function streamjoin_joins",
      "default.f(id)" -> "the function default.f",
      "reflect('java.lang.System', 'exit', 1)" -> "the function reflect",
      "java_method('java.lang.System', 'exit', 1)" -> "the function java_method",
      "raise_error('stop')" -> "the function raise_error",
      "coalesce(raise_error('stop'), id)" -> "the function raise_error",
      "abs.reflect('java.lang.System', 'exit', 1)" -> "the function abs.reflect",
      "lower.abs(id)" -> "the function lower.abs",
      "assert_true(id > 3)" -> "the function assert_true",
      "from_protobuf(s, 'm', '/some/file')" -> "the function from_protobuf",
      "(SELECT max(id) FROM t)" -> "a sub-query",
      "id IN (SELECT id FROM t)" -> "a sub-query",
      "*" -> "unresolvedstar",
      "count(DISTINCT id)" -> "the function count"
    )
  )
    test(s"a key does not run $key") {
      registered
      val text = s"$key = $key: BIGINT"
      assert(readings(text).isEmpty)
      assert(keys.refused(Seq(text)).contains(named))
    }

  for (
    key <- Seq("rand()", "uuid()", "sum(id)", "current_user()", "row_number() OVER (ORDER BY id)")
  )
    test(s"the key $key cannot be evaluated for a row alone") {
      for (dataType <- Seq("BIGINT", "DOUBLE", "STRING", "INT"))
        assert(readings(s"$key = $key: $dataType").isEmpty)
    }

  test("a key that depends on a time zone is read with that of the description") {
    val day = "CAST(t AS DATE) = CAST(t AS DATE): DATE"
    val noon = row(0.0)
    for (zone <- Seq("Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC")) {
      val reading = new StoredKeys(session, Some(zone)).of(Seq(day), Side.Left, rows).head
      val found = UnsafeProjection.create(reading.expressions, reading.columns)(noon).getInt(0)
      val time = Instant.EPOCH.plus(noon.getLong(rows.fieldIndex("t")), ChronoUnit.MICROS)
      assert(found == time.atZone(ZoneId.of(zone)).toLocalDate.toEpochDay, zone)
    }
  }

  test("a built-in function is Spark's, also if the session has one of this name") {
    registered
    val reading = readings("abs(id) = abs(id): BIGINT").head
    val found = UnsafeProjection.create(reading.expressions, reading.columns)(row(0.0)).getLong(0)
    assert(found == 7 && calls.get == 0)
  }
}
