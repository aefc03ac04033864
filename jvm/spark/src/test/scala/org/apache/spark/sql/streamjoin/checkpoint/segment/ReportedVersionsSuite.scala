package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{StateStoreId, StateStoreProviderId}
import org.apache.spark.sql.streamjoin.checkpoint.StateShape
import org.apache.spark.sql.test.SharedSparkSession
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * The versions reported to Spark, which uses them to find stores that lag behind in maintenance.
 */
class ReportedVersionsSuite extends SparkFunSuite with SharedSparkSession {

  private val shape = StateShape(
    _ => new StructType().add("value", LongType),
    _ => 1,
    _ => 1L,
    (_, row, _) => Array(row.getLong(0))
  )

  test("maintenance reports the newest version, also if nothing was merged") {
    val coordinator = spark.sessionState.streamingQueryManager.stateStoreCoordinator
    withTempDir { folder =>
      val (id, run) = (StateStoreId(folder.getCanonicalPath, 0, 0), UUID.randomUUID)
      val hadoop = new Configuration
      hadoop.set(StreamExecution.RUN_ID_KEY, run.toString)
      val provider = BegunProvider(id, SegmentFormat.settings(spark.sessionState.conf), hadoop)
      // accessible only in Spark's package
      val latest = coordinator.getClass
        .getMethod("getLatestSnapshotVersionForTesting", classOf[StateStoreProviderId])
      def reported() =
        latest.invoke(coordinator, StateStoreProviderId(id, run)).asInstanceOf[Option[Long]]
      try {
        provider.doMaintenance()
        assert(reported().isEmpty)
        for (version <- 0L to 30L) {
          val store = provider.getStore(version, None, false, false)
            .asInstanceOf[SegmentStateStore]
          store.open(shape)
          store.commit()
          if (version % 15 == 0) {
            provider.doMaintenance()
            assert(reported().contains(version + 1))
          }
        }
      } finally provider.close()
    }
  }

  test("the settings of a store are the current ones of the session") {
    val conf = spark.sessionState.conf
    val before = SegmentFormat.settings(conf)
    assert(SegmentFormat.settings(conf).sqlConfs == before.sqlConfs)
    withSQLConf(
      "spark.sql.streaming.minBatchesToRetain" -> "7",
      "spark.sql.streamJoin.segmentMemory" -> "3m"
    ) {
      val now = SegmentFormat.settings(conf)
      assert(now.minVersionsToRetain == 7)
      assert(now.extraOptions.values.toSeq == Seq("3145728"))
    }
    val after = SegmentFormat.settings(conf)
    assert(after.minVersionsToRetain == before.minVersionsToRetain && after.extraOptions.isEmpty)
    withSQLConf("spark.sql.streaming.stateStore.compression.codec" -> "zstd") {
      assert(
        SegmentFormat.settings(spark.cloneSession().sessionState.conf).compressionCodec == "zstd"
      )
    }
  }
}
