package org.apache.spark.sql.streamjoin.builtin

/** The state row counts that Spark's tests expect after a step, for each operator. */
private[builtin] final case class StateRows(
    total: Seq[Long],
    updated: Seq[Long],
    dropped: Seq[Long],
    removed: Option[Seq[Long]]
)

/** How a test of Spark differs here. `tests/peers/spark-join-suites.md` gives the reasons. */
private[builtin] sealed trait Deviation {
  def test: String
}

private[builtin] object Deviation {

  /** The join stays Spark's, and the test is unchanged. */
  final case class StaysSparks(test: String) extends Deviation

  /** The same rows with other state row counts. The map replaces Spark's counts. */
  final case class OtherCounts(test: String, counts: Map[StateRows, StateRows]) extends Deviation

  /** The test fails with this text in its message. A test of [[CounterpartSuite]] replaces it. */
  final case class OtherRows(test: String, failsWith: String) extends Deviation
}

private[builtin] object Deviations {

  import Deviation._

  private def inBothModes(name: String): Seq[String] = Seq(s"$name - Append", s"$name - Update")

  private def rows(total: Long, updated: Long): StateRows =
    StateRows(Seq(total), Seq(updated), Seq(0), None)

  private def rows(total: Long, updated: Long, removed: Long): StateRows =
    StateRows(Seq(total), Seq(updated), Seq(0), Some(Seq(removed)))

  private val nullableKeys = for {
    (left, right) <- Seq(
      "non-nullable" -> "nullable",
      "nullable" -> "non-nullable",
      "nullable" -> "nullable"
    )
    test <- inBothModes(s"joining $left left join key with $right right join key")
  } yield test

  val staySparks: Seq[StaysSparks] = (
    inBothModes("stream stream inner join on non-time column") ++
      inBothModes("stream stream inner join on windows - without watermark") ++
      inBothModes(
        "stream stream inner join with time range - with watermark - one side condition"
      ) ++
      Seq("stream stream inner join without equality predicate") ++
      inBothModes("stream stream self join") ++
      Seq(
        "locality preferences of StateStoreAwareZippedRDD",
        "join between three streams",
        "streaming join should require StatefulOpClusteredDistribution from children"
      ) ++
      nullableKeys ++
      Seq(
        "SPARK-51779 Restart streaming join query with virtual column families",
        "SPARK-51779 Join query using virtual column families with HDFS should fail",
        "SPARK-51779 Restart the join query and changing state format versions should reuse the " +
          "version from offset log",
        "stream-stream left_outer join does not support Update mode",
        "stream-stream right_outer join does not support Update mode",
        "stream-stream full outer join does not support Update mode"
      )
  ).map(StaysSparks(_))

  val otherCounts: Seq[OtherCounts] = {
    val sooner = Seq(
      "left outer with watermark range condition" -> Map(rows(7, 2) -> rows(4, 2)),
      "left outer join with non-key condition violated" -> Map(rows(6, 3) -> rows(3, 3))
    )
    val semi = for {
      (name, counts) <- Seq(
        "left semi early state exclusion on left" -> Map(rows(2, 1, 1) -> rows(2, 1, 0)),
        "left semi early state exclusion on right" -> Map(rows(2, 1, 1) -> rows(2, 1, 0)),
        "left semi join with watermark range condition" -> Map(
          rows(3, 2, 1) -> rows(3, 2, 0),
          rows(5, 1, 0) -> rows(2, 1, 3),
          rows(2, 1, 4) -> rows(2, 1, 1)
        )
      )
      test <- inBothModes(name)
    } yield test -> counts
    (sooner ++ semi).map { case (test, counts) => OtherCounts(test, counts) }
  }

  private val inAJar = "URI is not hierarchical"

  val otherRows: Seq[OtherRows] =
    inBothModes("stream stream inner join with time range - with watermark - two side conditions")
      .map(OtherRows(_, "![1,31,26]")) ++
      Seq(
        OtherRows("right outer with watermark range condition", "[null,2,null,5]"),
        OtherRows("full outer join with watermark range condition", "[null,2,null,5]"),
        OtherRows(
          "SPARK-38684: outer join works correctly even if processing input rows and evicting " +
            "state rows for same grouping key happens in the same micro-batch",
          "left in batch 1,null,null,null"
        ),
        OtherRows(
          "SPARK-26187 restore the stream-stream inner join query from Spark 2.4",
          inAJar
        ),
        OtherRows(
          "SPARK-26187 restore the stream-stream outer join query from Spark 2.4",
          inAJar
        ),
        OtherRows(
          "SPARK-48687 - restore the stream-stream inner join query from Spark 3.5 and " +
            "changing the join condition (key schema) should fail the query",
          inAJar
        ),
        OtherRows(
          "SPARK-48687 - restore the stream-stream inner join query from Spark 3.5 and " +
            "changing the value schema should fail the query",
          inAJar
        )
      )

  val all: Seq[Deviation] = staySparks ++ otherCounts ++ otherRows

  private val byTest = all.map(d => d.test -> d).toMap

  def of(test: String): Option[Deviation] = byTest.get(test)
}
