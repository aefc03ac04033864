package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql._
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{AsOfJoin, StreamJoin}

import io.streamjoin.model.JoinType

/** The join to which bounds in WHERE are moved, and whether it is this project's or Spark's. */
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

  both("WHERE above two inner joins bounds both", chain) { (o, d, x) =>
    s"SELECT o.id FROM $o JOIN $d ON ${meets("o", "d")} JOIN $x ON ${meets("d", "x")} " +
      s"WHERE ${near("o", "d")} AND ${near("d", "x")}"
  }

  both("WHERE above FROM o, d, x bounds both joins", chain) { (o, d, x) =>
    s"SELECT o.id FROM $o, $d, $x WHERE ${meets("o", "d")} AND ${meets("d", "x")} " +
      s"AND ${near("d", "x")} AND ${near("o", "d")}"
  }

  both("WHERE bounds the lower join if the upper one has its bounds in ON", chain) { (o, d, x) =>
    s"SELECT o.id FROM $o JOIN $d ON ${meets("o", "d")} " +
      s"JOIN $x ON ${meets("d", "x")} AND ${near("d", "x")} WHERE ${near("o", "d")}"
  }

  both("WHERE bounds a lower join that is the right input", "ours(dt-ot ours(dt-xt))") {
    (o, d, x) =>
      s"SELECT o.id FROM $o JOIN (SELECT d.*, x.xt FROM $d JOIN $x ON ${meets("d", "x")}) AS d " +
        s"ON ${meets("o", "d")} WHERE ${near("o", "d")} AND d.xt BETWEEN d.dt AND d.dt + INTERVAL 3 SECONDS"
  }

  for (how <- Seq("LEFT", "LEFT SEMI", "LEFT ANTI")) {
    both(s"WHERE above a $how join bounds the inner join below it", chain) { (o, d, x) =>
      s"SELECT o.id FROM $o JOIN $d ON ${meets("o", "d")} " +
        s"$how JOIN $x ON ${meets("d", "x")} AND ${near("d", "x")} WHERE ${near("o", "d")}"
    }
  }

  both("WHERE above a RIGHT join bounds the inner join below it", chain) { (o, d, x) =>
    s"SELECT o.id FROM $x RIGHT JOIN ($o JOIN $d ON ${meets("o", "d")}) " +
      s"ON ${meets("d", "x")} AND ${near("d", "x")} WHERE ${near("o", "d")}"
  }

  /** Joins `o JOIN d` to `x`, on either side, by a type of join. */
  private def outer(how: String, first: Boolean)(o: String, d: String, x: String): String = {
    val lower = s"$o JOIN $d ON ${meets("o", "d")}"
    val from = if (first) s"$lower $how JOIN $x" else s"$x $how JOIN ($lower)"
    s"SELECT o.id, x.id AS xid FROM $from ON ${meets("d", "x")} AND ${near("d", "x")}"
  }

  /** Types that pad `o JOIN d`, whether it is on the left, and the type without padded rows. */
  private val narrower = Seq(
    ("FULL", true, JoinType.LeftOuter),
    ("RIGHT", true, JoinType.Inner),
    ("FULL", false, JoinType.RightOuter),
    ("LEFT", false, JoinType.Inner)
  )

  for ((how, first, narrowed) <- narrower) {
    val place = if (first) "left" else "right"
    val chained = if (first) chain else "ours(dt-xt ours(dt-ot))"

    both(s"WHERE bounds the inner join that a $how join pads as its $place input", chained) {
      (o, d, x) =>
        s"${outer(how, first)(o, d, x)} WHERE ${near("o", "d")}"
    }

    both(s"WHERE bounds the $place inner join and drops all padded rows of a $how join", chained) {
      (o, d, x) =>
        s"${outer(how, first)(o, d, x)} WHERE ${near("o", "d")} AND x.id > 3"
    }

    test(s"bounds in WHERE on the $place inner join narrow a $how join in the analyzed plan") {
      val query = outer(how, first)("oi o", "di d", "xi x")
      def typeOf(where: String) =
        spark.sql(s"$query WHERE $where").queryExecution.analyzed.collectFirst {
          case j: StreamJoin => j.joinType
        }.get
      assert(typeOf(near("o", "d")) == narrowed)
      assert(typeOf(s"timestampdiff(SECOND, ot, dt) BETWEEN -1 AND 4") == narrowed)
      assert(typeOf(s"${near("o", "d")} AND x.id > 3") == JoinType.Inner)
    }

    test(s"the $place inner join of a $how join is refused if WHERE accepts padded rows") {
      val query = outer(how, first)("oi o", "di d", "xi x")
      for (
        where <- Seq(
          s"(${near("o", "d")} OR ot IS NULL)",
          s"coalesce(${near("o", "d")}, true)",
          "(ot IS NULL OR x.id > 3)"
        )
      ) assert(refusal(s"$query WHERE $where") == "UNBOUNDED_STATE", where)
    }

    test(s"the $place inner join of a $how join that emits late rows takes no bounds of WHERE") {
      val query = outer(how, first)("oi o", "di d", "xi x").replace(
        "SELECT",
        "SELECT /*+ STREAM_JOIN(late => 'emit') */"
      )
      assert(refusal(s"$query WHERE ${near("o", "d")}") == "UNBOUNDED_STATE")
    }
  }

  test("an outer join with its own bounds in WHERE is refused") {
    for (how <- Seq("LEFT", "RIGHT", "FULL")) {
      val query = s"SELECT o.id FROM oi o $how JOIN di d ON ${meets("o", "d")}"
      assert(refusal(s"$query WHERE ${near("o", "d")}") == "UNBOUNDED_STATE", how)
    }
  }

  both(
    "WHERE above two outer joins bounds the inner join below them",
    "ours(dt-ot ours(dt-xt ours(dt-ot)))"
  ) { (o, d, x) =>
    val again = o.replace(" o", "") + " p"
    s"SELECT o.id FROM $o JOIN $d ON ${meets("o", "d")} " +
      s"LEFT JOIN $x ON ${meets("d", "x")} AND ${near("d", "x")} " +
      s"LEFT JOIN $again ON p.k = d.k AND d.dt BETWEEN p.ot AND p.ot + INTERVAL 2 SECONDS " +
      s"WHERE ${near("o", "d")}"
  }

  both(
    "WHERE bounds the inner join in a sub-query with aliases and a filter",
    "ours(came_dt-xt ours(dt-ot))"
  ) { (o, d, x) =>
    s"SELECT a FROM (SELECT o.id a, o.ot AS ot, d.dt AS came_dt, d.k k FROM $o JOIN $d ON ${meets("o", "d")} " +
      s"WHERE o.id > 3) AS j JOIN $x ON j.k = x.k AND x.xt BETWEEN came_dt AND came_dt + INTERVAL 3 SECONDS " +
      "WHERE came_dt BETWEEN ot AND ot + INTERVAL 4 SECONDS"
  }

  test("where() above DataFrame joins bounds the lower join") {
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

  test("where() above an as-of join by a hint stays above it") {
    val limits = spark.range(3).selectExpr("id AS k", "id * 2 AS most")
    def limited(stream: String) = spark.table(stream).join(limits, "k")
    val built = limited("di").withColumn("over", expr("id > most"))
    // the table in both inputs makes the join wait for the filter, which is resolved already
    val joined = limited("oi").drop("most").as("o").hint("stream_join", "match=last")
      .join(built.as("d"), expr("o.k = d.k AND dt <= ot"))
    val plan = analyzed(joined.where(built("over")))
    assert(plan.collect { case Filter(c, _: AsOfJoin) => c.sql } == Seq("over"))
    assert(plan.collect { case j: Join => j.condition.get.references.map(_.name).toSet }.toSet ==
      Set(Set("k")))
  }

  test("a filter on one input does not move from WHERE to the condition of the join") {
    val query =
      s"SELECT o.id FROM o JOIN d ON ${meets("o", "d")} WHERE ${near("o", "d")} AND o.id > 3"
    replacing(assert(joins(query) == "ours(dt-ot)"))
    val sparks = analyzed(query)
    val placed = replacing(PlaceWindows(sparks))
    def columns(conditions: PartialFunction[LogicalPlan, Expression]) =
      placed.collect(conditions.andThen(_.references.map(_.name).toSet))
    assert(columns { case j: Join => j.condition.get } == Seq(Set("k", "ot", "dt")))
    assert(columns { case f: Filter => f.condition } == Seq(Set("id")))
  }

  /** The analyzed plan with Spark's own joins. */
  private def analyzed(query: String): LogicalPlan = analyzed(spark.sql(query))

  private def analyzed(df: DataFrame): LogicalPlan =
    df.asInstanceOf[classic.DataFrame].queryExecution.analyzed

  test("a join above an unbounded join of Spark is not replaced") {
    val lower = s"o JOIN d ON ${meets("o", "d")}"
    val upper = s"JOIN x ON ${meets("d", "x")} AND ${near("d", "x")}"
    replacing {
      assert(joins(s"SELECT o.id FROM $lower $upper") == "sparks(dt-xt sparks())")
      assert(joins(s"SELECT o.id FROM $lower LEFT $upper") == "sparks(dt-xt sparks())")
    }
  }

  test("a join above a join of Spark is replaced only if the lower one is bounded") {
    val lower = s"o JOIN d ON ${meets("o", "d")} AND current_database() = 'default'"
    replacing {
      val query = s"SELECT o.id FROM $lower JOIN x ON ${meets("d", "x")} WHERE ${near("d", "x")}"
      assert(joins(query) == "sparks(dt-xt sparks())")
      assert(joins(s"$query AND ${near("o", "d")}") == "ours(dt-xt sparks(dt-ot))")
    }
  }

  test("WHERE stays above the join without replaceBuiltin") {
    val query = s"SELECT o.id FROM o JOIN d ON ${meets("o", "d")} WHERE ${near("o", "d")}"
    assert(analyzed(query).exists(_.isInstanceOf[Filter]))
  }
}
