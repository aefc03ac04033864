package org.apache.spark.sql.streamjoin.physical.changelog

import scala.util.Random

import org.apache.spark.SparkConf
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.internal.StaticSQLConf
import org.apache.spark.sql.streaming.StreamTest

import io.streamjoin.{PythonApi, StreamJoinExtensions}

/** A chain of append-only joins over restarts emits each pair once, with all columns. */
class AppendedRowsSuite extends StreamTest {
  import testImplicits._

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)
    .set("spark.sql.shuffle.partitions", "2")

  private type Row = (Int, String)

  private def join(left: DataFrame, right: DataFrame, on: String): DataFrame = PythonApi.streamJoin(
    left,
    right,
    on,
    "inner",
    java.util.Map.of("mode", "changelog")
  )

  for (format <- Seq("segments", "rocksdb"))
    test(s"$format: a chain of append-only joins emits each pair once over restarts") {
      val inputs = Seq.fill(3)(MemoryStream[Row])
      def input(number: Int, name: String): DataFrame =
        inputs(number).toDF().toDF("id", "text").as(name)
      val (a, b, c) = (input(0, "a"), input(1, "b"), input(2, "c"))
      val below = join(a, b, "a.id = b.id AND a.text <> b.text")
        .selectExpr("a.id AS id", "a.text AS x", "b.text AS y", "_change_type").as("ab")
      val joined =
        join(below, c, "ab.id = c.id").selectExpr("ab.id", "y", "x", "c.text", "_change_type")
      var found = Seq.empty[(Int, String, String, String)]
      def take(batch: DataFrame): Unit = {
        val rows = batch.collect()
        assert(rows.forall(_.getString(4) == "insert"))
        found ++= rows.map(r => (r.getInt(0), r.getString(1), r.getString(2), r.getString(3)))
      }
      val random = new Random(1)
      val all = Array.fill(3)(Seq.empty[Row])
      withSQLConf("spark.sql.streamJoin.stateFormat" -> format) {
        withTempDir { folder =>
          for (_ <- 0 until 4) {
            for (i <- inputs.indices) {
              val rows = Seq.fill(random.nextInt(12))(
                (random.nextInt(4), if (random.nextInt(5) == 0) null else "x" * random.nextInt(10))
              )
              all(i) ++= rows
              inputs(i).addData(rows)
            }
            val query = joined.writeStream
              .foreachBatch((batch: DataFrame, _: Long) => take(batch))
              .option("checkpointLocation", folder.getCanonicalPath)
              .start()
            try query.processAllAvailable()
            finally query.stop()
            val expected = for {
              (id, x) <- all(0)
              (other, y) <- all(1) if other == id && x != null && y != null && x != y
              (third, z) <- all(2) if third == id
            } yield (id, y, x, z)
            def sorted(rows: Seq[(Int, String, String, String)]) = rows.map(_.toString).sorted
            assert(sorted(found) == sorted(expected))
          }
        }
      }
      assert(found.length > 100)
    }
}
