package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.DataFrame

/** Which sorts are this project's own. */
class SortChangesSuite extends PlannedChanges {

  private def sorts(df: DataFrame): Seq[String] = nodes(df, """[+:]- \*?(?:\(\d+\) )?(Sort\w*)""".r)

  private val Own = "SortByHash"

  test("those of changes by the hash of their join key, also where last images are kept") {
    assert(sorts(together(changes("id"), changes("id"), "a.id = b.id", "left")) ==
      Seq(Own, Own))
    assert(sorts(together(changes("id"), changes("id"), "a.k = b.id", "left")) ==
      Seq.fill(4)(Own))
  }

  test("where the result is netted") {
    val joined = together(changes("id"), changes("id"), "a.id = b.id", "left")
    val netted = joined.selectExpr("a.k", "b.k AS other", "_change_type")
    assert(sorts(netted) == Seq.fill(3)(Own))
  }

  test("rows that only come are not sorted") {
    assert(sorts(together(
      stream("value AS id"),
      stream("value AS id"),
      "a.id = b.id",
      "inner"
    )).isEmpty)
  }
}
