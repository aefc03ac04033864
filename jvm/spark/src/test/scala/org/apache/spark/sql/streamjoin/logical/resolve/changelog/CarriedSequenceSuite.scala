package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.model.Side

/** A join reads the declared sequence of an input, whatever columns a projection above it keeps. */
class CarriedSequenceSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "value % 3 AS k", "value AS seq", "timestamp AS t", "'c' AS op")
      .createOrReplaceTempView("rows")
    stream("value AS id").createOrReplaceTempView("plain")
    session
      .sql("SELECT * FROM FROM_UPSERTS(TABLE(rows), DESCRIPTOR(id), DESCRIPTOR(seq))")
      .createOrReplaceTempView("u")
    session.sql(
      "SELECT named_struct('op', op, 'before', s, 'after', s) AS value, seq AS offset FROM " +
        "(SELECT op, seq, named_struct('id', id, 'k', k) AS s FROM rows)"
    ).createOrReplaceTempView("messages")
    session.sql("SELECT * FROM FROM_DEBEZIUM(TABLE(messages), DESCRIPTOR(id))")
      .createOrReplaceTempView("d")
    session.sql("SELECT * FROM FROM_CHANGELOG(TABLE(rows), op => DESCRIPTOR(op))")
      .createOrReplaceTempView("whole")
    session.sql("SELECT id, k, _change_type FROM u").createOrReplaceTempView("narrow")
  }

  private def joins(plan: LogicalPlan): Seq[ChangelogJoin] = plan.collect { case j: ChangelogJoin =>
    j
  }

  /** Inputs whose projections drop or replace the sequence column. */
  private val inputs = Seq(
    "(SELECT id, k, _change_type FROM u)",
    "narrow",
    "(SELECT k, id, _change_type FROM (SELECT id, k, t, _change_type FROM u))",
    "(SELECT id, seq + 1 AS seq, k, _change_type FROM u)",
    "(SELECT id, k, _change_type FROM d)"
  )

  for (input <- inputs) {
    test(s"an equi-join reads the sequence of $input") {
      for (
        (side, from) <-
          Seq(Side.Left -> s"$input x JOIN plain y", Side.Right -> s"plain y LEFT JOIN $input x")
      ) {
        val plan = analyzed(s"SELECT * FROM $from ON x.id = y.id")
        assert(joins(plan).map(_.sequence(side).nonEmpty) == Seq(true), from)
      }
    }

    test(s"a non-equi join reads the sequence of $input") {
      val plan = analyzed(s"SELECT * FROM $input x JOIN plain y ON x.id < y.id")
      assert(joins(plan).map(_.sequence(Side.Left).nonEmpty) == Seq(true))
    }

    test(s"a self-join reads the sequence of $input on both sides") {
      val plan = analyzed(s"SELECT * FROM $input x JOIN $input y ON x.id = y.id")
      assert(joins(plan).map(j => Side.both.map(j.sequence(_).nonEmpty)) == Seq(Seq(true, true)))
    }

    test(s"the join of EXISTS reads the sequence of $input on both sides") {
      val plan = analyzed(
        s"SELECT * FROM $input x WHERE EXISTS (SELECT 1 FROM $input y WHERE x.id = y.id)"
      )
      assert(joins(plan).map(j => Side.both.map(j.sequence(_).nonEmpty)) == Seq(Seq(true, true)))
    }
  }

  test("an input is normalized if the optimizer finds an equality that is not its key") {
    for (
      (condition, normalizes) <- Seq(
        "x.k < y.id" -> Seq(false),
        "x.k = y.id" -> Seq(false, true),
        "(x.k = y.id AND x.id > 1) OR (x.k = y.id AND y.id > 2)" -> Seq(false, true),
        "x.id = y.id AND ((x.k = y.id AND x.id > 1) OR (x.k = y.id AND y.id > 2))" ->
          Seq(false, true),
        "NOT (x.k <> y.id)" -> Seq(false, true),
        "x.k IN (y.id)" -> Seq(false),
        "(x.id = y.id AND x.k > 1) OR (x.id = y.id AND y.id > 2)" -> Seq(false)
      )
    ) {
      val plan = analyzed(s"SELECT * FROM u x JOIN plain y ON $condition")
      assert(joins(plan).map(_.normalizes) == normalizes, condition)
      val planned = session.sessionState.optimizer.execute(plan)
      val keys = joins(planned).head.equiKeys.map(_.left)
      val key = joins(planned).head.key(Side.Left)
      assert(normalizes.length == 2 || keys.forall(k => key.exists(_.semanticEquals(k))), condition)
    }
  }

  test("a restored sequence adds no column to the output") {
    def columns(text: String) = session.sql(text).columns.toSeq
    val changes = Seq("_change_type", "_commit_version", "_commit_timestamp")
    assert(columns("SELECT * FROM narrow x JOIN plain y ON x.id = y.id") ==
      Seq("id", "k", "id") ++ changes)
    assert(columns("SELECT * FROM narrow x JOIN narrow y USING (id)") ==
      Seq("id", "k", "k") ++ changes)
    assert(columns("SELECT * FROM narrow x LEFT ANTI JOIN narrow y USING (id)") ==
      Seq("id", "k") ++ changes)
  }

  test("toUpserts and sums normalize a keyed declaration, not the result of a join") {
    val sum = "sum(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END)"
    def upserts(text: String) =
      planOf(PythonCalls.toUpserts(session.sql(text), java.util.List.of("id")))
    val join = "SELECT x.id, x._change_type FROM narrow x JOIN u y ON x.id = y.id"
    for (
      (plan, normalizes) <- Seq(
        upserts("SELECT * FROM u") -> Seq(true),
        upserts("SELECT id, _change_type FROM narrow WHERE k > 0") -> Seq(true),
        analyzed(s"SELECT k, $sum FROM narrow GROUP BY k") -> Seq(true),
        analyzed(s"SELECT $sum FROM d WHERE k = 1") -> Seq(true),
        // a join emits both images, and a changelog without a key contains both
        upserts(join.replace("x._change", "_change")) -> Seq(false),
        analyzed(s"SELECT id, $sum FROM (${join.replace("x._change", "_change")}) GROUP BY id") ->
          Seq(false),
        upserts("SELECT * FROM whole") -> Nil
      )
    )
      assert(joins(plan).map(_.normalizes) == normalizes, plan)
  }
}
