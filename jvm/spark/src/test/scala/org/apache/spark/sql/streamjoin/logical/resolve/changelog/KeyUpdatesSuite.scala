package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.SplitKeyUpdates
import org.apache.spark.sql.streamjoin.logical.resolve.shared.ZonedInput

/** A Debezium update of the declared key is split into a delete of the old key and the update. */
class KeyUpdatesSuite extends AnalysisSession {

  private val row = "STRUCT<id: INT, part: STRING, name: STRING>"
  private val fields = s"op STRING, before $row, after $row, source STRUCT<lsn: INT>"

  /** The declared changes of messages: the columns of the row, the sequence, and the row kind. */
  private def declared(messages: Seq[String], key: Seq[String], payload: Boolean): Seq[Seq[Any]] = {
    val values = messages.map { m =>
      val parsed = s"from_json('$m', '$fields')"
      val message = if (payload) s"named_struct('schema', '', 'payload', $parsed)" else parsed
      s"SELECT $message AS value"
    }
    val input = planOf(session.sql(values.mkString(" UNION ALL ")))
    val source = new ChangelogSource(input, session.sessionState.conf.resolver)
    Dataset.ofRows(session, source.debezium(key, "value", Some("source.lsn"))).collect()
      .toSeq.map(_.toSeq)
  }

  private def image(id: Any, part: Any, name: Any): String = {
    def text(value: Any) = if (value == null) "null" else s"\"$value\""
    s"""{"id": $id, "part": ${text(part)}, "name": ${text(name)}}"""
  }

  private def message(op: String, lsn: Int, before: String, after: String): String =
    s"""{"op": "$op", "before": $before, "after": $after, "source": {"lsn": $lsn}}"""

  private val (old, now) = (image(1, "p", "a"), image(2, "p", "b"))
  private val (ofOld, ofNow) = (Seq[Any](1, "p", "a"), Seq[Any](2, "p", "b"))
  private val delete = Seq[Any](7, "delete")
  private val update = Seq[Any](7, "update_postimage")

  for (payload <- Seq(false, true)) {
    def of(key: String*)(messages: String*) = declared(messages, key, payload)
    val where = if (payload) "with a payload" else "without a payload"

    test(s"an update that changes the key deletes the row of the old key, $where") {
      assert(of("id")(message("u", 7, old, now)) == Seq(ofOld ++ delete, ofNow ++ update))
      // each column of the key counts
      for (before <- Seq(image(1, "q", "a"), image(2, "q", "a"))) {
        val changes = of("part", "id")(message("u", 7, before, now))
        assert(changes.map(_.last) == Seq("delete", "update_postimage"), before)
      }
    }

    test(s"an update of other columns is one change, $where") {
      val key = image(2, "p", "other")
      for (columns <- Seq(Seq("id"), Seq("id", "part")))
        assert(of(columns: _*)(message("u", 7, key, now)) == Seq(ofNow ++ update))
    }

    test(s"an update deletes the old key only if the old image has all its columns, $where") {
      val unknown = Seq(image(null, "q", "a"), image(1, null, "a"))
      for (before <- "null" +: unknown)
        assert(of("id", "part")(message("u", 7, before, now)) == Seq(ofNow ++ update), before)
      // columns outside the key may be NULL
      assert(of("id")(message("u", 7, image(1, null, null), now)) ==
        Seq(Seq[Any](1, null, null) ++ delete, ofNow ++ update))
    }

    test(s"a create, a snapshot read and a delete are one change each, $where") {
      for (op <- Seq("c", "r"))
        assert(of("id")(message(op, 7, old, now)) == Seq(ofNow ++ update), op)
      assert(of("id")(message("d", 7, old, now)) == Seq(ofOld ++ delete))
    }

    test(s"split updates keep the order and the sequence of their messages, $where") {
      val back = message("u", 8, now, old)
      assert(of("id")(message("u", 7, old, now), back).map(r => (r.head, r(3), r.last)) == Seq(
        (1, 7, "delete"),
        (2, 7, "update_postimage"),
        (2, 8, "delete"),
        (1, 8, "update_postimage")
      ))
    }
  }

  test("an update whose old image has only NULL is one change") {
    val nothing = image(null, null, null)
    assert(declared(Seq(message("u", 7, nothing, now)), Seq("id"), payload = false) ==
      Seq(ofNow ++ update))
  }

  test("SplitKeyUpdates does not change the description of an input in a checkpoint") {
    val messages = stream(s"from_json('', '$fields') AS value")
    val plan =
      planOf(PythonCalls.fromDebezium(messages, java.util.List.of("id"), "value", "source.lsn"))
    val without = plan.transform { case s: SplitKeyUpdates => s.child }
    assert(plan != without)
    assert(InputParts.of(plan, changes = true) == InputParts.of(without, changes = true))
    assert(ZonedInput.of(plan) == ZonedInput.of(without))
  }

  test("a filter on the messages does not remove the delete of the old key") {
    // the constraints of the filter do not hold for the delete
    val messages = session
      .sql(s"SELECT from_json('${message("u", 7, old, now)}', '$fields') AS value")
      .where("value.op = 'u' AND value.after.id = 2")
    val source = new ChangelogSource(planOf(messages), session.sessionState.conf.resolver)
    val changes = Dataset.ofRows(session, source.debezium(Seq("id"), "value", Some("source.lsn")))
    assert(changes.where("_change_type = 'delete'").collect().map(_.getInt(0)).toSeq == Seq(1))
  }

  test("a key column that is not in the images is refused") {
    val messages = stream(s"from_json('', '$fields') AS value")
    val e = refusal(
      PythonCalls.fromDebezium(messages, java.util.List.of("other"), "value", "source.lsn")
    )
    assert(e.getCondition == "STREAM_JOIN.INVALID_CHANGELOG")
    assert(e.getMessage.contains("the key other is not part of the rows"), e.getMessage)
    assert(e.getMessage.contains("columns of id, part, name"), e.getMessage)
  }
}
