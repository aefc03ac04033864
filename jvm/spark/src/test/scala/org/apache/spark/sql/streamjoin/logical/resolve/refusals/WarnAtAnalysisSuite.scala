package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.classic
import org.apache.spark.sql.streamjoin.logical.StreamsInSql

/** Warnings in the driver's log when a query is analyzed, each logged once. */
class WarnAtAnalysisSuite extends StreamsInSql {

  private def warned(analysis: => Unit): Seq[String] = {
    val log = new LogAppender("warnings at analysis")
    withLogAppender(log, loggerNames = Seq(classOf[WarnAtAnalysis].getName))(analysis)
    log.loggingEvents.toSeq.map(_.getMessage.getFormattedMessage)
  }

  private def analyze(sql: String): Unit =
    spark.sql(sql).asInstanceOf[classic.DataFrame].queryExecution.assertAnalyzed()

  private val within = "oi.id = di.id AND dt BETWEEN ot AND ot + INTERVAL '1' HOUR"

  test("contradictory bounds are logged once") {
    val warnings = warned(
      analyze(
        "SELECT * FROM oi JOIN di ON oi.id = di.id AND dt > ot AND dt < ot - INTERVAL '1' HOUR"
      )
    )
    assert(warnings.length == 1)
    assert(
      warnings.head.startsWith("No two rows can match: the bounds of a join contradict each other.")
    )
    assert(warnings.head.contains("dt < "))
  }

  test("bounds with exchanged ends are logged with the ends in order") {
    for (
      (bounds, instead) <- Seq(
        "dt BETWEEN ot + INTERVAL '1' HOUR AND ot" -> "di.dt BETWEEN oi.ot AND oi.ot + INTERVAL '1' HOUR",
        "ot - INTERVAL '5' MINUTE >= dt AND dt >= ot" ->
          "oi.ot BETWEEN di.dt AND di.dt + INTERVAL '5' MINUTE"
      )
    ) {
      val warnings = warned(analyze(s"SELECT * FROM oi JOIN di ON oi.id = di.id AND $bounds"))
      assert(warnings.length == 1)
      assert(warnings.head.contains(s"Perhaps write $instead."), warnings.head)
    }
  }

  test("a retention beside both bounds is logged, unless another join of the hint needs it") {
    def from(tables: String) =
      warned(analyze(s"SELECT /*+ STREAM_JOIN(retention => '1 hour') */ 1 FROM $tables"))
    val both = s"oi JOIN di ON $within"
    val warnings = from(both)
    assert(warnings.length == 1)
    assert(warnings.head.startsWith("The retention of a join has no effect"))
    assert(from("oi JOIN di ON oi.id = di.id AND dt >= ot").isEmpty)
    assert(from(s"$both JOIN xi ON di.id = xi.id").isEmpty)
    withSQLConf("spark.sql.streamJoin.retention" -> "1 hour") {
      assert(warned(analyze(s"SELECT 1 FROM $both")).isEmpty)
    }
  }

  test("a changelog join of rows with versions is logged, unless the query requests it") {
    val versions = "FROM_UPSERTS(TABLE(di), DESCRIPTOR(id), DESCRIPTOR(dt)) AS v"
    def from(tables: String, hint: String = "") =
      warned(analyze(s"SELECT $hint oi.id, _change_type FROM $tables"))
    for (how <- Seq("", "LEFT"); more <- Seq("", " AND v.dt <= oi.ot")) {
      val warnings = from(s"oi $how JOIN $versions ON oi.id = v.id$more")
      assert(warnings.length == 1)
      assert(warnings.head.contains("write how=\"asof\" or, in SQL, FOR SYSTEM_TIME AS OF oi.ot. "))
      assert(warnings.head.contains("not with the version that was valid at oi.ot, and"))
    }
    val plain = s"oi JOIN $versions ON oi.id = v.id"
    assert(from(plain, "/*+ STREAM_JOIN(mode => 'changelog') */").isEmpty)
    assert(from(plain, "/*+ STREAM_JOIN(state_ttl => '1 day') */").isEmpty)
    assert(from(s"$plain AND v.dt BETWEEN oi.ot AND oi.ot + INTERVAL '1' HOUR").isEmpty)
    assert(from(s"oi FULL JOIN $versions ON oi.id = v.id").isEmpty)
    assert(
      from(
        s"o AS oi JOIN FROM_UPSERTS(TABLE(d), DESCRIPTOR(id), DESCRIPTOR(dt)) AS v ON oi.id = v.id"
      ).isEmpty
    )
  }

  test("an order on a table that is joined with a stream is logged") {
    withTempView("t") {
      spark.sql("SELECT 1 AS id, timestamp'2024-05-04 10:00:00' AS t").createOrReplaceTempView("t")
      val warnings = warned(analyze(
        "SELECT * FROM oi JOIN IMPOSE_ORDER(TABLE(t), DESCRIPTOR(t), INTERVAL '1' MINUTE) AS x " +
          "ON oi.id = x.id"
      ))
      assert(warnings.length == 1)
      assert(
        warnings.head.startsWith("IMPOSE_ORDER on t has no effect, because its input is a table")
      )
    }
  }

  test("an unknown setting is logged once for all sessions") {
    withSQLConf(
      "spark.sql.streamJoin.replaceBuiltIn" -> "true",
      "spark.sql.streamJoin.lag" -> "1 minute"
    ) {
      val warnings = warned {
        for (_ <- 1 to 2) spark.cloneSession().sql(s"SELECT * FROM oi JOIN di ON $within")
      }
      assert(warnings.length == 2)
      assert(
        warnings.exists(_.startsWith("Unknown setting spark.sql.streamJoin.lag; there are spark"))
      )
      assert(warnings.exists(_.endsWith("it is written spark.sql.streamJoin.replaceBuiltin.")))
    }
  }

  test("duplicate column names in files are logged, also if the join is the whole query") {
    val join = s"SELECT * FROM oi JOIN di ON $within"
    for (query <- Seq(join, "SELECT oi.id, di.id " + join.stripPrefix("SELECT * "))) withTempDir {
      folder =>
        val warnings = warned {
          spark.sql(query).writeStream.format("parquet")
            .option("checkpointLocation", s"${folder.getCanonicalPath}/checkpoint")
            .start(s"${folder.getCanonicalPath}/files").stop()
        }
        assert(
          warnings.count(
            _.startsWith("The files of this query would contain more than one column " +
              "id")
          ) == 1
        )
    }
  }

  test("a join of streams without watermarks is logged, a changelog join is not") {
    withTempView("a", "b") {
      for (name <- Seq("a", "b"))
        spark.readStream.format("rate").load().selectExpr("value AS id", "value AS version")
          .createOrReplaceTempView(name)
      def changes(name: String) =
        s"FROM_UPSERTS(TABLE($name), DESCRIPTOR(id), DESCRIPTOR(version)) AS $name"
      val unbounded = warned(analyze("SELECT a.id FROM a JOIN b ON a.id = b.id"))
      assert(unbounded.length == 1)
      assert(unbounded.head.contains("itself, and buffers all rows for ever"))
      for (how <- Seq("", "LEFT"))
        assert(
          warned(analyze(
            s"SELECT a.id, _change_type FROM ${changes("a")} $how JOIN ${changes("b")} ON a.id = b.id"
          )).isEmpty
        )
    }
  }

  test("a valid join logs no warning") {
    assert(warned(analyze(s"SELECT * FROM oi JOIN di ON $within")).isEmpty)
  }
}
