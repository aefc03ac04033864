package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogJoin

import io.streamjoin.PythonApi
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.model.Watermarks

/** Which rows that are not stored can have expired. */
class ExpiredRowsSuite extends PlannedChangelogs {

  private val Hour = 3600000000L

  /** @param on of the inputs `a` and `b` */
  private def spec(left: DataFrame, on: String, ttl: Option[String]): ChangelogSpec = {
    val options = new java.util.HashMap[String, Any](java.util.Map.of("mode", "changelog"))
    ttl.foreach(options.put("state_ttl", _))
    val right = changes(Seq("k"), None)
    val joined = PythonApi.streamJoin(left.as("a"), right.as("b"), on, "left", options)
    planned(session.sessionState.optimizer.execute(planOf(joined)).collectFirst {
      case j: ChangelogJoin if !j.normalizes => j
    }.get).spec
  }

  private def rows(of: ChangelogSpec, watermark: Long): UnsafeChangelogRows = {
    val rows = new UnsafeChangelogRows(of)
    rows.begin(0L, Array.fill(of.times.expressions.length)(watermark))
    rows
  }

  private def row(of: ChangelogSide, time: java.lang.Long): UnsafeRow = {
    val values = of.storedColumns.map { a =>
      a.name match {
        case "t"     => time
        case "_gone" => false
        case _       => 1L
      }
    }
    UnsafeProjection.create(of.storedColumns, of.storedColumns)(InternalRow.fromSeq(values)).copy()
  }

  test("without state_ttl no row can have expired; with a TTL by write time any row can") {
    for ((ttl, may) <- Seq(None -> false, Some("1 hour") -> true); key <- Seq(Nil, Seq("k"))) {
      val of = spec(changes(key, None), "a.k = b.k", ttl)
      assert(rows(of, Watermarks.Unknown)(Left).mayHaveExpired(row(of.left, 5L)) == may)
    }
  }

  test(
    "with a TTL by event time, a row can have expired if the previous watermark is past its TTL"
  ) {
    for (key <- Seq(Nil, Seq("k"))) {
      val of = spec(ordered(changes(key, None), "t"), "a.k = b.k", Some("1 hour"))
      val at = rows(of, 2 * Hour)
      assert(at(Left).mayHaveExpired(row(of.left, Hour - 1)))
      assert(!at(Left).mayHaveExpired(row(of.left, Hour)))
      // a delete by key does not contain the time of the row; a row without a time has no TTL
      assert(at(Left).mayHaveExpired(row(of.left, null)) == key.nonEmpty)
      assert(!rows(of, Watermarks.Unknown)(Left).mayHaveExpired(row(of.left, 0L)))
    }
  }

  test("a change settles the expired row if its side has one row for each join key and a TTL") {
    def settles(key: Seq[String], on: String, ttl: Option[String]) =
      rows(spec(changes(key, None), on, ttl), Watermarks.Unknown)(Left).settlesExpired
    val ttl = Some("1 hour")
    assert(settles(Seq("k"), "a.k = b.k", ttl))
    assert(settles(Seq("k"), "a.k = b.k AND a.id = b.id", ttl))
    assert(!settles(Seq("k"), "a.k = b.k", None))
    assert(!settles(Nil, "a.k = b.k", ttl))
    assert(!settles(Seq("id"), "a.k = b.k", ttl))
    assert(!settles(Seq("id", "k"), "a.k = b.k", ttl))
    val right = rows(spec(changes(Nil, None), "a.k = b.k", ttl), Watermarks.Unknown)
    assert(right(Right).settlesExpired)
  }
}
