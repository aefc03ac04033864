package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.test.SharedSparkSession

class HadoopSettingsSuite extends SparkFunSuite with SharedSparkSession {

  private val run = UUID.randomUUID

  private val Setting = "streamjoin.test.secret"

  test("settings are handed out once while they stay as they are") {
    assert(HadoopSettings.broadcast(spark, run) eq HadoopSettings.broadcast(spark, run))
  }

  test("another run has its own") {
    assert(HadoopSettings.broadcast(spark, run) ne HadoopSettings.broadcast(spark, UUID.randomUUID))
  }

  test("what has changed since is handed out, wherever it was set") {
    val hadoop = spark.sparkContext.hadoopConfiguration
    val before = HadoopSettings.broadcast(spark, run)
    hadoop.set(Setting, "new")
    try {
      val after = HadoopSettings.broadcast(spark, run)
      assert(after.value.value.get(Setting) == "new")
      withSQLConf(Setting -> "newer") {
        assert(HadoopSettings.broadcast(spark, run).value.value.get(Setting) == "newer")
      }
      assert(before.value.value.get(Setting) == null)
    } finally hadoop.unset(Setting)
  }
}
