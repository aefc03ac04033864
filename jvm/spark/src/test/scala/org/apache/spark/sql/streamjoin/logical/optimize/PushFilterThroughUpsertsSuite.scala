package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ToUpserts

/** [[PushFilters]] above `toUpserts`. */
class PushFilterThroughUpsertsSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "value % 3 AS k", "value AS seq", "'c' AS op")
      .createOrReplaceTempView("rows")
    session
      .sql("SELECT * FROM FROM_UPSERTS(TABLE(rows), DESCRIPTOR(id), DESCRIPTOR(seq))")
      .createOrReplaceTempView("a")
    session.sql("SELECT * FROM FROM_CHANGELOG(TABLE(rows), op => DESCRIPTOR(op))")
      .createOrReplaceTempView("whole")
  }

  /** The filter conditions below `toUpserts`, and those above, with these columns in between. */
  private def placed(
      changes: String,
      condition: String,
      columns: Seq[String] = Nil
  ): (Seq[String], Seq[String]) = {
    def conditions(plan: LogicalPlan): Seq[String] = plan match {
      case Filter(c, child)  => c.sql +: conditions(child)
      case Project(_, child) => conditions(child)
      case _                 => Nil
    }
    val upserts = PythonCalls.toUpserts(session.sql(changes), java.util.List.of("id"))
    val computed = if (columns.isEmpty) upserts else upserts.selectExpr("*" +: columns: _*)
    val pushed = PushFilters(planOf(computed.where(condition)))
    val below = pushed.collectFirst { case u: ToUpserts => conditions(u.child) }.get
    (below, conditions(pushed))
  }

  private val joined =
    "SELECT x.id, y.k, _change_type, _commit_version FROM a x LEFT JOIN a y ON x.k = y.id"

  test("a filter on row columns is pushed below toUpserts") {
    for (changes <- Seq(joined, "SELECT * FROM a", "SELECT * FROM whole")) {
      val (below, above) = placed(changes, "k > 1")
      assert(below.length == 1 && above.isEmpty, changes)
    }
  }

  test("a filter on change columns stays above toUpserts") {
    for (
      filter <-
        Seq("_change_type <> 'delete'", "_commit_version > 3", "k > 1 OR _change_type = 'delete'")
    ) {
      val (below, above) = placed(joined, filter)
      assert(below.isEmpty && above.length == 1, filter)
    }
    val (below, above) = placed("SELECT * FROM whole", "_change_type <> 'delete'")
    assert(below.isEmpty && above.length == 1)
  }

  test("a filter is pushed through the columns above toUpserts that are evaluated once") {
    val columns =
      Seq("rand() AS r", "current_timestamp() AS at", "CAST(k AS STRING) RLIKE '1' AS one")
    for (filter <- Seq("k > 1", "one")) {
      val (below, above) = placed(joined, filter, columns)
      assert(below.length == 1 && above.isEmpty, filter)
    }
    val (below, above) = placed(joined, "k > 1 AND r < 0.5 AND _change_type <> 'delete'", columns)
    assert(below.length == 1 && below.head.contains("> "), below)
    assert(above.length == 2 && above.exists(_.contains("r <")), above)
  }

  test("a conjunction is split into a part below toUpserts and a part above") {
    val (below, above) = placed(joined, "k > 1 AND _change_type <> 'delete'")
    assert(below.length == 1 && below.head.contains("> "), below)
    assert(above.length == 1 && above.head.contains("_change_type"), above)
  }
}
