package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.UUID

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreConf,
  StateStoreId,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.sql.test.SharedSparkSession

/** Which stores are reused without a request to Spark. */
class LocalStoresSuite extends SparkFunSuite with SharedSparkSession {

  private def provider(id: StateStoreId): StateStoreProvider =
    BegunProvider(id, SegmentFormat.settings(spark.sessionState.conf))

  test("a store is requested once in a run, and again after its provider is closed") {
    withTempDir { folder =>
      val store = StateStoreId(folder.getCanonicalPath, 0, 0)
      val id = StateStoreProviderId(store, UUID.randomUUID)
      var asked = Seq.empty[StateStoreProvider]
      def get(id: StateStoreProviderId, version: Long): Long =
        LocalStores.get(id, version, None) {
          asked :+= provider(store)
          asked.last.getStore(version)
        }.version
      try {
        assert((0L to 3L).map(get(id, _)) == (0L to 3L))
        assert(asked.length == 1)
        get(id.copy(queryRunId = UUID.randomUUID), 0)
        assert(asked.length == 2, "of another run")
        asked.head.close()
        assert(get(id, 4) == 4 && asked.length == 3)
        asked.last.close()
        // closed before it is cached
        LocalStores.get(id, 5, None)(asked.last.getStore(5))
        assert(get(id, 5) == 5 && asked.length == 4)
      } finally asked.foreach(_.close())
    }
  }

  test("stores report commits if they are validated and the session setting is on") {
    val conf = spark.sessionState.conf
    def reports(checked: Boolean): StateStoreConf = SegmentFormat.settings(conf, checked)
    assert(reports(true).commitValidationEnabled && !reports(false).commitValidationEnabled)
    withSQLConf("spark.sql.streaming.stateStore.commitValidation.enabled" -> "false") {
      assert(!reports(true).commitValidationEnabled)
    }
    assert(reports(true).commitValidationEnabled)
  }
}
