package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql._
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin

import io.streamjoin.model.JoinType

/** Bounds in WHERE, by the join that they end in and whose it is. */
class PlaceWindowsSuite extends StreamsInSql {

  private val chain = "ours(dt-xt ours(dt-ot))"

  /** The same query of streams with Spark's watermarks, and of streams with imposed orders. */
  private def both(
      name: String,
      expected: String
  )(query: (String, String, String) => String): Unit =
    test(name) {
      replacing(assert(joins(query("o", "d", "x")) == expected))
      assert(joins(query("oi o", "di d", "xi x")) == expected)
    }

  both("an inner chain, ON and WHERE", chain) { (o, d, x) =>
    s"SELECT o.id FROM $o JOIN $d ON ${meets("o", "d")} JOIN $x ON ${meets("d", "x")} " +
      s"WHERE ${near("o", "d")} AND ${near("d", "x")}"
  }

  both("FROM o, d, x WHERE", chain) { (o, d, x) =>
    s"SELECT o.id FROM $o, $d, $x WHERE ${meets("o", "d")} AND ${meets("d", "x")} " +
      s"AND ${near("d", "x")} AND ${near("o", "d")}"
  }

  both("the upper join has its bounds in ON", chain) { (o, d, x) =>
    s"SELECT o.id FROM $o JOIN $d ON ${meets("o", "d")} " +
      s"JOIN $x ON ${meets("d", "x")} AND ${near("d", "x")} WHERE ${near("o", "d")}"
  }

  both("the lower join is on the right", "ours(dt-ot ours(dt-xt))") { (o, d, x) =>
    s"SELECT o.id FROM $o JOIN (SELECT d.*, x.xt FROM $d JOIN $x ON ${meets("d", "x")}) AS d " +
      s"ON ${meets("o", "d")} WHERE ${near("o", "d")} AND d.xt BETWEEN d.dt AND d.dt + INTERVAL 3 SECONDS"
  }

  for (how <- Seq("LEFT", "LEFT SEMI", "LEFT ANTI")) {
    both(s"above a $how join", chain) { (o, d, x) =>
      s"SELECT o.id FROM $o JOIN $d ON ${meets("o", "d")} " +
        s"$how JOIN $x ON ${meets("d", "x")} AND ${near("d", "x")} WHERE ${near("o", "d")}"
    }
  }

  both("above a RIGHT join", chain) { (o, d, x) =>
    s"SELECT o.id FROM $x RIGHT JOIN ($o JOIN $d ON ${meets("o", "d")}) " +
      s"ON ${meets("d", "x")} AND ${near("d", "x")} WHERE ${near("o", "d")}"
  }

  /** Joins `o JOIN d` to `x`, on either side, by a type of join. */
  private def outer(how: String, first: Boolean)(o: String, d: String, x: String): String = {
    val lower = s"$o JOIN $d ON ${meets("o", "d")}"
    val from = if (first) s"$lower $how JOIN $x" else s"$x $how JOIN ($lower)"
    s"SELECT o.id, x.id AS xid FROM $from ON ${meets("d", "x")} AND ${near("d", "x")}"
  }

  /** By how the join pads `o JOIN d`: the type that it has without these rows, from the type that it has. */
  private val narrower = Seq(
    ("FULL", true, JoinType.LeftOuter),
    ("RIGHT", true, JoinType.Inner),
    ("FULL", false, JoinType.RightOuter),
    ("LEFT", false, JoinType.Inner)
  )

  for ((how, first, narrowed) <- narrower) {
    val place = if (first) "left" else "right"
    val chained = if (first) chain else "ours(dt-xt ours(dt-ot))"

    both(s"above a $how join that pads its $place input", chained) { (o, d, x) =>
      s"${outer(how, first)(o, d, x)} WHERE ${near("o", "d")}"
    }

    both(s"above a $how join of which WHERE drops all padded rows, $place", chained) { (o, d, x) =>
      s"${outer(how, first)(o, d, x)} WHERE ${near("o", "d")} AND x.id > 3"
    }

    test(s"above a $how join, $place: its type at the analysis") {
      val query = outer(how, first)("oi o", "di d", "xi x")
      def typeOf(where: String) =
        spark.sql(s"$query WHERE $where").queryExecution.analyzed.collectFirst {
          case j: StreamJoin => j.joinType
        }.get
      assert(typeOf(near("o", "d")) == narrowed)
      assert(typeOf(s"timestampdiff(SECOND, ot, dt) BETWEEN -1 AND 4") == narrowed)
      assert(typeOf(s"${near("o", "d")} AND x.id > 3") == JoinType.Inner)
    }

    test(s"above a $how join, $place: what lets padded rows through stays above it") {
      val query = outer(how, first)("oi o", "di d", "xi x")
      for (
        where <- Seq(
          s"(${near("o", "d")} OR ot IS NULL)",
          s"coalesce(${near("o", "d")}, true)",
          "(ot IS NULL OR x.id > 3)"
        )
      ) assert(refusal(s"$query WHERE $where") == "UNBOUNDED_STATE", where)
    }

    test(s"above a $how join, $place, of which late rows come out") {
      val query = outer(how, first)("oi o", "di d", "xi x").replace(
        "SELECT",
        "SELECT /*+ STREAM_JOIN(late => 'emit') */"
      )
      assert(refusal(s"$query WHERE ${near("o", "d")}") == "UNBOUNDED_STATE")
    }
  }

  test("bounds of an outer join itself stand in ON") {
    for (how <- Seq("LEFT", "RIGHT", "FULL")) {
      val query = s"SELECT o.id FROM oi o $how JOIN di d ON ${meets("o", "d")}"
      assert(refusal(s"$query WHERE ${near("o", "d")}") == "UNBOUNDED_STATE", how)
    }
  }

  both("two outer joins above it", "ours(dt-ot ours(dt-xt ours(dt-ot)))") { (o, d, x) =>
    val again = o.replace(" o", "") + " p"
    s"SELECT o.id FROM $o JOIN $d ON ${meets("o", "d")} " +
      s"LEFT JOIN $x ON ${meets("d", "x")} AND ${near("d", "x")} " +
      s"LEFT JOIN $again ON p.k = d.k AND d.dt BETWEEN p.ot AND p.ot + INTERVAL 2 SECONDS " +
      s"WHERE ${near("o", "d")}"
  }

  both(
    "a sub-query with names and a WHERE of its own",
    "ours(came_dt-xt ours(dt-ot))"
  ) { (o, d, x) =>
    s"SELECT a FROM (SELECT o.id a, o.ot AS ot, d.dt AS came_dt, d.k k FROM $o JOIN $d ON ${meets("o", "d")} " +
      s"WHERE o.id > 3) AS j JOIN $x ON j.k = x.k AND x.xt BETWEEN came_dt AND came_dt + INTERVAL 3 SECONDS " +
      "WHERE came_dt BETWEEN ot AND ot + INTERVAL 4 SECONDS"
  }

  test("df.join().join().where()") {
    replacing {
      def named(n: String) = spark.table(n).as(n)
      val (o, d, x) = (named("o"), named("d"), named("x"))
      for (how <- Seq("inner", "left", "left_anti")) {
        val joined = o.join(d, expr(meets("o", "d")))
          .join(x, expr(s"${meets("d", "x")} AND ${near("d", "x")}"), how)
        // Spark puts an anti join below an inner one
        val sparks = if (how == "left_anti") "sparks( sparks(dt-xt))" else "sparks(dt-xt sparks())"
        assert(joins(joined) == sparks, how)
        assert(joins(joined.where(near("o", "d"))) == chain, how)
        assert(
          joins(joined.select("o.ot", "d.dt").where("dt BETWEEN ot AND ot + INTERVAL 1 SECOND"))
            == chain,
          how
        )
      }
    }
  }

  test("what concerns one input only does not go into the condition") {
    val query =
      s"SELECT o.id FROM o JOIN d ON ${meets("o", "d")} WHERE ${near("o", "d")} AND o.id > 3"
    replacing(assert(joins(query) == "ours(dt-ot)"))
  }

  test("a join that keeps rows for ever is trusted by none above it") {
    val lower = s"o JOIN d ON ${meets("o", "d")}"
    val upper = s"JOIN x ON ${meets("d", "x")} AND ${near("d", "x")}"
    replacing {
      assert(joins(s"SELECT o.id FROM $lower $upper") == "sparks(dt-xt sparks())")
      assert(joins(s"SELECT o.id FROM $lower LEFT $upper") == "sparks(dt-xt sparks())")
    }
  }

  test("a join that Spark bounds is trusted, whatever makes it Spark's") {
    val lower = s"o JOIN d ON ${meets("o", "d")} AND current_database() = 'default'"
    replacing {
      val query = s"SELECT o.id FROM $lower JOIN x ON ${meets("d", "x")} WHERE ${near("d", "x")}"
      assert(joins(query) == "sparks(dt-xt sparks())")
      assert(joins(s"$query AND ${near("o", "d")}") == "ours(dt-xt sparks(dt-ot))")
    }
  }

  test("nothing is moved where no join is sought") {
    val query = s"SELECT o.id FROM o JOIN d ON ${meets("o", "d")} WHERE ${near("o", "d")}"
    assert(spark.sql(query).queryExecution.analyzed.exists(
      _.isInstanceOf[org.apache.spark.sql.catalyst.plans.logical.Filter]
    ))
  }
}
