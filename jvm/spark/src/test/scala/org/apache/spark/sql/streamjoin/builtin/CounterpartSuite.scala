package org.apache.spark.sql.streamjoin.builtin

import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming._

/** Replaces Spark's tests that give other rows here: the same steps, with this project's rows. */
class CounterpartSuite extends StreamingJoinSuite with OnStreamJoin {

  import testImplicits._

  private def keyed(input: MemoryStream[(Int, Int)], side: String, lag: String): DataFrame =
    input
      .toDF()
      .toDF(s"${side}Key", "time")
      .select(col(s"${side}Key"), timestamp_seconds($"time") as s"${side}Time")
      .withWatermark(s"${side}Time", lag)

  test("two side conditions: the watermark of a row's own column decides whether it is late") {
    val (leftInput, rightInput) = (MemoryStream[(Int, Int)], MemoryStream[(Int, Int)])
    val joined = keyed(leftInput, "left", "20 seconds")
      .join(
        keyed(rightInput, "right", "30 seconds"),
        expr(
          "leftKey = rightKey AND leftTime BETWEEN rightTime - interval 10 seconds " +
            "AND rightTime + interval 5 seconds"
        )
      )
      .select($"leftKey", $"leftTime".cast("int"), $"rightTime".cast("int"))
    testStream(joined)(
      AddData(leftInput, (1, 20)),
      CheckAnswer(),
      AddData(rightInput, (1, 14), (1, 15), (1, 25), (1, 26), (1, 30), (1, 31)),
      CheckNewAnswer((1, 20, 15), (1, 20, 25), (1, 20, 26), (1, 20, 30)),
      assertNumStateRows(total = 7, updated = 7),
      AddData(rightInput, (1, 60)),
      CheckNewAnswer(),
      // left watermark 66 - 20 = 46: evicts right rows below 41; right watermark 60 - 30 = 30
      AddData(leftInput, (1, 49), (1, 50), (1, 65), (1, 66)),
      CheckNewAnswer((1, 50, 60), (1, 65, 60)),
      assertNumStateRows(total = 6, updated = 5),
      // 30 and 31 are below the left watermark, 46 is at it and not late
      AddData(leftInput, (1, 30), (1, 31), (1, 46)),
      CheckNewAnswer(),
      assertNumStateRows(total = 7, updated = 1, droppedByWatermark = 2),
      // right watermark 80 - 30 = 50: evicts the left row 20, which is below 40
      AddData(rightInput, (1, 80)),
      CheckNewAnswer(),
      assertNumStateRows(total = 7, updated = 1),
      AddData(rightInput, (1, 46), (1, 50)),
      CheckNewAnswer((1, 46, 50), (1, 49, 50), (1, 50, 50)),
      assertNumStateRows(total = 8, updated = 1, droppedByWatermark = 1)
    )
  }

  for (
    (joinType, atLast) <- Seq(
      "right_outer" -> Nil,
      "full_outer" -> Seq(Row(3, null, 5, null))
    )
  )
    test(
      s"$joinType with watermark range condition: the left watermark emits unmatched right rows"
    ) {
      val (leftInput, rightInput, joined) = setupJoinWithRangeCondition(joinType)
      testStream(joined)(
        AddData(leftInput, (1, 5), (3, 5)),
        CheckAnswer(),
        AddData(rightInput, (1, 10), (2, 5)),
        CheckNewAnswer((1, 1, 5, 10)),
        AddData(rightInput, (1, 11)),
        CheckNewAnswer(),
        assertNumStateRows(total = 5, updated = 5),
        // left watermark 30 - 10 = 20: a right row below 15 matches no future left row
        AddData(leftInput, (1, 7), (1, 30)),
        CheckNewAnswer(Row(1, 1, 7, 10), Row(1, 1, 7, 11), Row(null, 2, null, 5)),
        assertNumStateRows(total = 4, updated = 2),
        AddData(rightInput, (0, 30)),
        CheckNewAnswer(atLast: _*),
        assertNumStateRows(total = 2, updated = 1)
      )
    }

  test(
    "SPARK-38684: unmatched rows of one key are evicted and emitted in the batch they arrive in"
  ) {
    val (leftInput, rightInput) =
      (MemoryStream[(Timestamp, String, String)], MemoryStream[(Timestamp, String, String)])
    def input(stream: MemoryStream[(Timestamp, String, String)]) = stream
      .toDF()
      .selectExpr("_1 as eventTime", "_2 as id", "_3 as comment")
      .withWatermark("eventTime", "0 second")
    def at(time: String) = Timestamp.valueOf(s"2020-01-02 $time")
    val joined = input(leftInput)
      .as("left")
      .join(
        input(rightInput).as("right"),
        expr(
          "left.id = right.id AND left.eventTime BETWEEN right.eventTime - INTERVAL 30 seconds " +
            "AND right.eventTime + INTERVAL 30 seconds"
        ),
        "leftOuter"
      )
      .select("left.comment", "right.comment")
    testStream(joined)(
      MultiAddData(
        (leftInput, Seq((at("00:00:00"), "abc", "left in batch 1"))),
        (rightInput, Seq((at("00:01:00"), "abc", "right in batch 1")))
      ),
      CheckNewAnswer(("left in batch 1", null)),
      MultiAddData(
        (leftInput, Seq((at("01:00:00"), "abc", "left in batch 2"))),
        (rightInput, Seq((at("01:01:00"), "abc", "right in batch 2")))
      ),
      CheckNewAnswer(("left in batch 2", null)),
      AddData(leftInput, (at("01:30:00"), "abc", "left in batch 3")),
      CheckNewAnswer(),
      AddData(rightInput, (at("01:30:10"), "abc", "match with left in batch 3")),
      CheckNewAnswer(("left in batch 3", "match with left in batch 3"))
    )
  }
}
