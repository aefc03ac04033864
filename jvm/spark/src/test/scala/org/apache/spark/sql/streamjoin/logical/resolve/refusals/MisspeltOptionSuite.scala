package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streamjoin.AnalysisSession

import io.streamjoin.PythonApi

/** An unknown option is refused in every API that takes options, never ignored. */
class MisspeltOptionSuite extends AnalysisSession {

  private def left: DataFrame = ordered(stream("value AS k", "timestamp AS t"), "t").as("a")

  private def right: DataFrame = ordered(stream("value AS k", "timestamp AS bt"), "bt").as("b")

  private def hinted: DataFrame = left.hint("stream_join", "lat=emit")

  private val Bound = "bt BETWEEN t AND t + INTERVAL '1' HOUR"

  private def sql(hint: String): DataFrame = {
    left.createOrReplaceTempView("l")
    right.createOrReplaceTempView("r")
    session.sql(s"SELECT /*+ $hint */ * FROM l AS a JOIN r AS b ON a.k = b.k AND $Bound")
  }

  for (
    (api, query) <- Seq[(String, () => DataFrame)](
      "SQL, by name" -> (() => sql("STREAM_JOIN(lat => 'emit')")),
      "SQL, as text" -> (() => sql("STREAM_JOIN('lat=emit')")),
      "DataFrame.join with a hint" -> (() => hinted.join(right, expr(s"a.k = b.k AND $Bound"))),
      "DataFrame.join on columns of the DataFrames" -> { () =>
        val (l, r) = (hinted, right)
        l.join(r, l("k") === r("k") && expr(Bound))
      },
      "DataFrame.join by column names" -> (() => hinted.join(right, Seq("k")).where(Bound)),
      "a self-join" -> { () =>
        val one = ordered(stream("value AS k", "timestamp AS t"), "t")
        one.hint("stream_join", "lat=emit").as("x").join(
          one.as("y"),
          expr("x.k = y.k AND y.t BETWEEN x.t AND x.t + INTERVAL '1' HOUR")
        )
      },
      "joinWith" -> (() => hinted.joinWith(right, expr(s"a.k = b.k AND $Bound")).toDF()),
      "the Python API" -> { () =>
        PythonApi.streamJoin(
          left,
          right,
          s"a.k = b.k AND $Bound",
          "inner",
          java.util.Map.of("lat", "emit")
        )
      }
    )
  ) test(s"an unknown option is refused: $api") {
    val refused = refusal(query())
    assert(refused.getCondition == "STREAM_JOIN.INVALID_OPTION")
    assert(refused.getMessage.contains("lat"))
  }

  test("the refusal of a hint shows a correct hint and the Python call") {
    for (
      (hint, instead) <- Seq(
        "STREAM_JOIN(state_tl => '1 day')" -> ("state_ttl => '30 days'", "state_ttl=\"30 days\""),
        "STREAM_JOIN(mode => 'chang')" -> ("mode => 'changelog'", "mode=\"changelog\""),
        "STREAM_JOIN(retention => map())" -> ("retention => '1 hour'", "retention=\"1 hour\""),
        "STREAM_JOIN(mode => 'changelog', late => 'emit')" ->
          ("state_ttl => '30 days'", "state_ttl=\"30 days\""),
        "STREAM_JOIN(mode => 'event_time', state_ttl => '1 day')" ->
          (
            "mode => 'changelog', state_ttl => '30 days'",
            "mode=\"changelog\", state_ttl=\"30 days\""
          ),
        "STREAM_JOIN(something => 1)" -> ("late => 'emit'", "late=\"emit\"")
      )
    ) {
      val refused = refusal(sql(hint))
      assert(refused.getCondition == "STREAM_JOIN.INVALID_OPTION", hint)
      assert(
        refused.getMessage.contains(
          s"Write SELECT /*+ STREAM_JOIN(${instead._1}) */ ... FROM ... JOIN ..., or " +
            s"in Python left.streamJoin(right, on, ${instead._2})."
        ),
        refused.getMessage
      )
    }
  }
}
