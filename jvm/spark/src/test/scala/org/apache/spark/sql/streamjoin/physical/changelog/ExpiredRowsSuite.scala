package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.PythonApi
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.model.Watermarks

/** Which rows that are not stored can have expired. */
class ExpiredRowsSuite extends PlannedChangelogs {

  private val Hour = 3600000000L

  /** @param on of the inputs `a` and `b` */
  private def spec(
      left: DataFrame,
      on: String,
      ttl: Option[String],
      how: String = "left",
      onExpiry: String = "keep"
  ): ChangelogSpec = {
    val options = new java.util.HashMap[String, Any](java.util.Map.of("mode", "changelog"))
    for (age <- ttl) options.putAll(java.util.Map.of("state_ttl", age, "on_expiry", onExpiry))
    val right = changes(Seq("k"), None)
    val joined = PythonApi.streamJoin(left.as("a"), right.as("b"), on, how, options)
    planned(session.sessionState.optimizer.execute(planOf(joined)).collectFirst {
      case j: ChangelogJoin if !j.normalizes => j
    }.get).spec
  }

  private def rows(of: ChangelogSpec, watermark: Long): UnsafeChangelogRows = {
    val rows = new UnsafeChangelogRows(of)
    val watermarks = Array.fill(of.times.expressions.length)(watermark)
    rows.begin(0L, watermarks, watermarks)
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

  test(
    "rows whose expiry retracts results cannot have expired unseen, and are over by event time"
  ) {
    val of = spec(
      ordered(changes(Seq("k"), None), "t"),
      "a.k = b.k",
      Some("1 hour"),
      onExpiry = "retract"
    )
    val at = rows(of, 2 * Hour)(Left)
    for (time <- Seq[java.lang.Long](Hour - 1, Hour, null)) {
      assert(!at.mayHaveExpired(row(of.left, time)))
      assert(at.expired(row(of.left, time)) == (time != null && time < Hour))
    }
    val byWrite = spec(changes(Seq("k"), None), "a.k = b.k", Some("1 hour"), onExpiry = "retract")
    assert(!rows(byWrite, Watermarks.Unknown)(Left).expired(row(byWrite.left, 0L)))
  }

  test("rows are marked if their partners may expire and keep their results") {
    val ttl = Some("left=1 hour")
    def marked(how: String, ttl: Option[String], onExpiry: String = "keep") = {
      val of = spec(changes(Seq("k"), None), "a.k = b.k", ttl, how, onExpiry)
      Seq(Left, Right).map(of.marksMatched)
    }
    assert(marked("inner", None) == Seq(false, false))
    assert(marked("inner", ttl) == Seq(false, true))
    assert(marked("inner", Some("1 hour")) == Seq(true, true))
    assert(marked("semi", Some("1 hour")) == Seq(true, false))
    assert(marked("left", Some("1 hour"), "retract") == Seq(false, false))
  }
}
