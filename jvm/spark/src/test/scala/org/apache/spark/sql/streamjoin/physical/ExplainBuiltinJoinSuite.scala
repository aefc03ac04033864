package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql.{meets, near}

/** What `explain` says of a join that stayed Spark's. */
class ExplainBuiltinJoinSuite extends StreamsInSql {

  private val NotUsed = "StreamJoin not used"

  private def explained(condition: String, how: String = "JOIN"): String =
    spark.sql(s"SELECT * FROM o $how d ON $condition")
      // of a query as it was parsed Spark does not know that it is one of streams
      .select("*").queryExecution.explainString(SimpleMode)

  private val unbounded = meets("o", "d")

  private val bounded = s"${meets("o", "d")} AND ${near("o", "d")}"

  test("a join without bounds says which it lacks, where it was to be replaced") {
    val said = replacing(explained(unbounded))
    assert(said.contains(NotUsed) && said.contains("StreamingSymmetricHashJoin"), said)
    assert(said.contains("the condition (o.k = d.k) does not bound"), said)
  }

  test("where it was not, it says nothing") {
    for (condition <- Seq(unbounded, bounded)) {
      val said = explained(condition)
      assert(!said.contains(NotUsed) && said.contains("StreamingSymmetricHashJoin"), said)
    }
  }

  test("a join that is replaced is ours") {
    val said = replacing(explained(bounded, "LEFT JOIN"))
    assert(!said.contains(NotUsed) && said.contains("StreamJoin LEFT OUTER"), said)
    assert(!said.contains("StreamingSymmetricHashJoin"), said)
  }
}
