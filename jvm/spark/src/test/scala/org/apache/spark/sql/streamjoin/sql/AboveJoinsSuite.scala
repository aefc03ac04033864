package org.apache.spark.sql.streamjoin.sql

/** Each SQL statement above a stream join is planned or refused without an internal error. */
class AboveJoinsSuite extends SqlShapes {

  private val Bounds = "d.t BETWEEN o.t AND o.t + INTERVAL 1 HOUR"

  /** Relations for FROM. Each has an input `o`. */
  private val relations = Seq(
    "o",
    s"o JOIN d ON o.k = d.k AND $Bounds",
    s"o JOIN d ON $Bounds",
    s"o LEFT JOIN d ON o.k = d.k AND $Bounds",
    s"o RIGHT JOIN d ON o.k = d.k AND $Bounds",
    s"o FULL JOIN d ON o.k = d.k AND $Bounds",
    s"o LEFT SEMI JOIN d ON o.k = d.k AND $Bounds",
    s"o LEFT ANTI JOIN d ON o.k = d.k AND $Bounds",
    "o JOIN d OVER (RANGE INTERVAL '10' MINUTE FOLLOWING) AS d ON o.k = d.k",
    "o LEFT JOIN d OVER (RANGE INTERVAL '10' MINUTE PRECEDING) AS d ON o.k = d.k",
    "o JOIN d OVER (ROWS 1 PRECEDING) AS d ON o.k = d.k",
    "o JOIN d OVER (ROWS 3 PRECEDING) AS d ON o.k = d.k AND d.t >= o.t - INTERVAL 1 HOUR",
    "o LEFT JOIN d OVER (ROWS 1 PRECEDING) AS d ON o.k = d.k",
    "o LEFT SEMI JOIN d OVER (ROWS 1 PRECEDING) AS d ON o.k = d.k",
    "o LEFT ANTI JOIN d OVER (ROWS 1 PRECEDING) AS d ON o.k = d.k",
    "d JOIN o OVER (ROWS 1 PRECEDING) AS o ON o.k = d.k AND o.t >= d.t - INTERVAL 1 HOUR",
    s"o JOIN d ON o.k = d.k AND $Bounds JOIN d OVER (ROWS 1 PRECEDING) AS x ON o.k = x.k AND x.t <= o.t",
    s"o JOIN d OVER (ROWS 1 PRECEDING) AS x ON o.k = x.k JOIN d ON o.k = d.k AND $Bounds",
    "o JOIN c ON o.id = c.id",
    "o LEFT JOIN c ON o.id = c.id",
    "o FULL JOIN c ON o.id = c.id",
    "c AS o LEFT SEMI JOIN d ON o.id = d.id",
    "c AS o JOIN c AS x ON o.id = x.id",
    "c AS o"
  )

  /** Statements, with `#` for the relation. */
  private val statements = Seq(
    "SELECT * FROM #",
    "SELECT o.id FROM # WHERE o.id > 3",
    "SELECT STREAM o.id FROM #",
    "SELECT o.id, o.t FROM # ORDER BY o.t",
    "SELECT o.id FROM # ORDER BY o.t",
    "SELECT o.id AS x, o.t AS y FROM # ORDER BY y, x DESC",
    "SELECT * FROM # ORDER BY o.t LIMIT 10",
    "SELECT * FROM # ORDER BY 1",
    "SELECT * FROM # ORDER BY o.t DESC",
    "SELECT * FROM # ORDER BY ROWTIME",
    "SELECT STREAM ROWTIME, o.id FROM #",
    "SELECT ROWTIME AS r, o.id FROM # ORDER BY r",
    "SELECT * FROM # SORT BY o.t",
    "SELECT * FROM # DISTRIBUTE BY o.k SORT BY o.t",
    "SELECT * FROM # LIMIT 5",
    "SELECT DISTINCT o.id FROM #",
    "SELECT o.k, count(*) FROM # GROUP BY o.k",
    "SELECT o.k, count(*) FROM # GROUP BY ALL",
    "SELECT o.k, count(*) c FROM # GROUP BY o.k HAVING count(*) > 1",
    "SELECT o.k FROM # GROUP BY o.k HAVING max(o.t) > TIMESTAMP '2024-01-01'",
    "SELECT window, count(*) FROM # GROUP BY window(o.t, '1 hour')",
    "SELECT window.end, o.k, count(*) c FROM # GROUP BY window(o.t, '1 hour'), o.k HAVING c > 1",
    "SELECT window.end e, count(*) c FROM # GROUP BY window(o.t, '1 hour') ORDER BY window.end",
    "SELECT session_window.start, count(*) FROM # GROUP BY session_window(o.t, '5 minutes'), o.k",
    "SELECT o.k, count(*) FROM # GROUP BY CUBE (o.k)",
    "SELECT x.id FROM (SELECT o.id, o.t FROM #) x",
    "SELECT x.id FROM (SELECT o.id, o.t FROM #) x ORDER BY x.t",
    "SELECT x.id FROM (SELECT o.id, o.t FROM # ORDER BY o.t) x WHERE x.id > 1",
    "WITH x AS (SELECT o.id, o.t FROM #) SELECT id FROM x ORDER BY t",
    "WITH x AS (SELECT o.id, o.t FROM #) SELECT * FROM x UNION ALL SELECT * FROM x",
    "SELECT id FROM (SELECT o.id, o.t FROM #) UNION ALL SELECT id FROM o",
    "SELECT o.id FROM # WHERE EXISTS (SELECT 1 FROM d y WHERE y.k = o.k AND y.t BETWEEN o.t AND " +
      "o.t + INTERVAL 1 HOUR)",
    "SELECT o.id FROM # WHERE o.id IN (SELECT id FROM d)",
    "SELECT *, row_number() OVER (PARTITION BY o.k ORDER BY o.t) FROM #",
    "SELECT o.id, e FROM # LATERAL VIEW explode(array(o.id, o.k)) AS e ORDER BY o.t",
    "FROM # |> SELECT o.id, o.t |> WHERE id > 1 |> ORDER BY t",
    "FROM # |> AGGREGATE count(*) AS c GROUP BY window(o.t, '1 hour') |> SELECT c",
    "SELECT o.id FROM # GROUP BY o.id, o.t ORDER BY o.t",
    "SELECT CASE WHEN o.id > 1 THEN o.t END AS z FROM # ORDER BY z",
    "SELECT nothing FROM # ORDER BY o.t"
  )

  testShapes(
    relations.map { relation =>
      s"each statement above $relation is planned or refused" ->
        statements.map(_.replace("#", relation))
    },
    share = 0.6
  )
}
