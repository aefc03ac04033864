package org.apache.spark.sql.streamjoin.sql

/** Each sub-query over streams is planned as a join or refused without an internal error. */
class SubqueryShapesSuite extends SqlShapes {

  private def near(x: String) = s"$x.t BETWEEN o.t AND o.t + INTERVAL 1 HOUR"

  /** Relations for FROM in the sub-query. Each has an input `d`. */
  private val relations = Seq(
    "d",
    "(SELECT * FROM d WHERE id > 1) d",
    "(SELECT * FROM d WHERE d.k = o.k) d",
    "(SELECT DISTINCT id, k, t FROM d) d",
    "(SELECT k, max(t) AS t FROM d GROUP BY k) d",
    "(SELECT k, max(t) AS t FROM d WHERE d.k = o.k GROUP BY k) d",
    "(SELECT * FROM d LIMIT 3) d",
    "(SELECT id, k, t FROM d UNION ALL SELECT id, k, t FROM e) d",
    s"d JOIN e ON d.k = e.k AND e.t BETWEEN d.t AND d.t + INTERVAL 1 HOUR",
    s"d JOIN e ON d.k = e.k AND e.t BETWEEN d.t AND d.t + INTERVAL 1 HOUR AND e.id = o.id",
    s"d LEFT JOIN e ON d.k = e.k AND e.t BETWEEN d.t AND d.t + INTERVAL 1 HOUR AND e.id = o.id",
    s"d LEFT JOIN e ON e.k = o.k AND ${near("e")}",
    s"d RIGHT JOIN e ON d.k = e.k AND d.t = e.t AND e.id > o.id",
    s"d FULL JOIN e ON d.k = e.k AND d.t = e.t AND e.id > o.id",
    s"d LEFT SEMI JOIN e ON d.k = e.k AND d.t = e.t AND e.id > o.id",
    s"d LEFT ANTI JOIN e ON d.k = e.k AND d.t = e.t AND e.id > o.id",
    "d, LATERAL (SELECT * FROM e WHERE e.k = d.k) e",
    "d, LATERAL (SELECT * FROM e WHERE e.k = o.k) e",
    "d JOIN e OVER (ROWS 1 PRECEDING) AS e ON d.k = e.k",
    "d JOIN e OVER (ROWS 1 PRECEDING) AS e ON d.k = e.k AND e.id = o.id",
    "d JOIN e OVER (RANGE INTERVAL '10' MINUTE FOLLOWING) AS e ON d.k = e.k",
    "d LATERAL VIEW explode(array(d.id, d.k)) AS x",
    "d LATERAL VIEW explode(array(d.id, o.k)) AS x",
    "c AS d",
    "c AS d JOIN e ON d.id = e.id",
    "table AS d",
    "(VALUES (1L, 1L, TIMESTAMP '2024-01-01')) AS d(id, k, t)"
  )

  /** Conditions, with `#` for the relation. */
  private val conditions = Seq(
    s"EXISTS (SELECT 1 FROM # WHERE d.k = o.k AND ${near("d")})",
    s"NOT EXISTS (SELECT d.id FROM # WHERE d.k = o.k AND ${near("d")})",
    s"EXISTS (SELECT 1 FROM # WHERE ${near("d")})",
    s"EXISTS (SELECT 1 FROM # WHERE d.k = o.k)",
    s"EXISTS (SELECT 1 FROM #)",
    s"o.k IN (SELECT d.k FROM # WHERE ${near("d")})",
    s"(o.k, o.t) IN (SELECT d.k, d.t FROM #)",
    s"o.k NOT IN (SELECT d.k FROM # WHERE ${near("d")})",
    s"EXISTS (SELECT 1 FROM # WHERE d.k = o.k AND ${near("d")}) OR o.id = 1",
    s"o.id = (SELECT max(d.id) FROM # WHERE d.k = o.k AND ${near("d")})",
    s"EXISTS (SELECT d.k, count(*) FROM # WHERE d.k = o.k AND ${near("d")} GROUP BY d.k)",
    s"EXISTS (SELECT 1 FROM # WHERE d.k = o.k AND ${near("d")} ORDER BY d.t LIMIT 1)",
    s"EXISTS (SELECT 1 FROM # WHERE d.k = o.k AND ${near("d")} AND EXISTS (SELECT 1 FROM e AS z " +
      s"WHERE z.k = d.k AND z.t BETWEEN d.t AND d.t + INTERVAL 1 HOUR))",
    s"EXISTS (SELECT 1 FROM # WHERE d.k = o.k AND ${near("d")} AND EXISTS (SELECT 1 FROM e AS z " +
      s"WHERE z.k = o.k AND ${near("z")}))",
    s"NOT (o.id > 3 OR NOT EXISTS (SELECT 1 FROM # WHERE d.k = o.k AND ${near("d")}))"
  )

  private val outer = Seq("o", "c AS o", "table AS o")

  testShapes(
    relations.map { relation =>
      s"each sub-query over $relation is planned or refused" -> {
        for (o <- outer; condition <- conditions)
          yield s"SELECT o.id FROM $o WHERE ${condition.replace("#", relation)}"
      }
    },
    share = 0.15
  )
}
