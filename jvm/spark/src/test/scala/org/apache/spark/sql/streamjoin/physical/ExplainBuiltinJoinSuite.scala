package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql.{meets, near}

/** The output of `explain` for a join that stays Spark's. */
class ExplainBuiltinJoinSuite extends StreamsInSql {

  private val NotUsed = "StreamJoin not used"

  private def explained(condition: String, how: String = "JOIN"): String =
    spark.sql(s"SELECT * FROM o $how d ON $condition")
      // Spark does not recognize a parsed plan as a streaming query
      .select("*").queryExecution.explainString(SimpleMode)

  private val unbounded = meets("o", "d")

  private val bounded = s"${meets("o", "d")} AND ${near("o", "d")}"

  test("with replaceBuiltin, an unbounded join explains which bound is missing") {
    val text = replacing(explained(unbounded))
    assert(text.contains(NotUsed) && text.contains("StreamingSymmetricHashJoin"), text)
    assert(text.contains("the condition (o.k = d.k) does not bound"), text)
  }

  test("without replaceBuiltin, explain does not mention StreamJoin") {
    for (condition <- Seq(unbounded, bounded)) {
      val text = explained(condition)
      assert(!text.contains(NotUsed) && text.contains("StreamingSymmetricHashJoin"), text)
    }
  }

  test("with replaceBuiltin, a bounded join is a StreamJoin") {
    val text = replacing(explained(bounded, "LEFT JOIN"))
    assert(!text.contains(NotUsed) && text.contains("StreamJoin LEFT OUTER"), text)
    assert(!text.contains("StreamingSymmetricHashJoin"), text)
  }
}
