package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  StreamJoinHint,
  UnresolvedChangelog,
  UnresolvedImposeOrder
}

/** [[ResolveStreamHints]] on its own, applied to hints of the parser and of DataFrames. */
class ResolveStreamHintsSuite extends AnalysisSession {

  private def hinted(text: String): LogicalPlan =
    ResolveStreamHints(session.sessionState.sqlParser.parsePlan(text))

  private def on(plan: LogicalPlan): Seq[StreamJoinHint] =
    plan.collect { case h: StreamJoinHint => h }

  private val relation = UnresolvedRelation(Seq("t"))

  private def ofDataFrame(name: String, arguments: String*): LogicalPlan =
    ResolveStreamHints(UnresolvedHint(name, arguments.map(Literal(_)), relation))

  test("the hint of a SELECT applies to each join in its FROM, and to none in a sub-query") {
    val plan = hinted(
      "SELECT /*+ STREAM_JOIN(late => 'emit', retention => '1 hour') */ * " +
        "FROM a JOIN b ON a.k = b.k JOIN (SELECT * FROM c JOIN d) AS s"
    )
    val hints = on(plan)
    assert(hints.map(_.options.words).toSet == Set("retention 1 hour, late emit"))
    assert(hints.length == 2 && hints.map(_.options.hint).distinct.length == 1)
    assert(!plan.exists(_.isInstanceOf[UnresolvedHint]))
  }

  test("JOIN_OPTIONS in a hint ignores case") {
    for (name <- Seq("JOIN_OPTIONS", "join_options", "Join_Options")) {
      val plan = hinted(s"SELECT /*+ stream_join($name(late => 'emit')) */ * FROM a JOIN b")
      assert(on(plan).map(_.options.words) == Seq("late emit"), name)
    }
  }

  test("the hint of a SELECT without a join applies to EXISTS in its WHERE") {
    val plan = hinted(
      "SELECT /*+ STREAM_JOIN(retention => '1 hour') */ * FROM a WHERE EXISTS (SELECT 1 FROM b)"
    )
    assert(plan.exists {
      case Filter(_, h: StreamJoinHint) => h.options.retention.contains("1 hour")
      case _                            => false
    })
  }

  test("a hint on a SELECT without a join, and an unknown or repeated option, are refused") {
    for (
      text <- Seq(
        "SELECT /*+ STREAM_JOIN(late => 'emit') */ * FROM a",
        "SELECT /*+ STREAM_JOIN(late => 'keep') */ * FROM a JOIN b",
        "SELECT /*+ STREAM_JOIN(latte => 'emit') */ * FROM a JOIN b",
        "SELECT /*+ STREAM_JOIN(late => 'emit', late => 'drop') */ * FROM a JOIN b"
      )
    ) assert(refusal(hinted(text)).getCondition == "STREAM_JOIN.INVALID_OPTION", text)
  }

  test("hints of a DataFrame become join options, an order or a changelog declaration") {
    ofDataFrame("stream_join", "late=emit") match {
      case h: StreamJoinHint => assert(h.options.emitLate && h.child == relation)
      case other             => fail(other.toString)
    }
    ofDataFrame("IMPOSE_ORDER", "ot", "1 minute", "max_ahead=1 hour") match {
      case o: UnresolvedImposeOrder =>
        assert(o.column == Seq("ot") && o.maxAhead.nonEmpty && o.child == relation)
      case other => fail(other.toString)
    }
    ofDataFrame("from_upserts", "key=id", "sequence_by=n") match {
      case c: UnresolvedChangelog =>
        assert(c.columns == Map("key" -> Seq("id"), "sequence_by" -> Seq("n")))
      case other => fail(other.toString)
    }
  }

  test("other hints are left unchanged") {
    val broadcast = UnresolvedHint("broadcast", Nil, relation)
    assert(ResolveStreamHints(broadcast) == broadcast)
  }
}
