package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.test.SharedSparkSession

class HadoopSettingsSuite extends SparkFunSuite with SharedSparkSession {

  private val Setting = "streamjoin.test.secret"

  test("settings are handed out once while they stay as they are") {
    assert(HadoopSettings.broadcast(spark) eq HadoopSettings.broadcast(spark))
  }

  test("another session has its own") {
    assert(HadoopSettings.broadcast(spark) ne HadoopSettings.broadcast(spark.cloneSession()))
  }

  test("what has changed since is handed out, wherever it was set") {
    val hadoop = spark.sparkContext.hadoopConfiguration
    val before = HadoopSettings.broadcast(spark)
    hadoop.set(Setting, "new")
    try {
      val after = HadoopSettings.broadcast(spark)
      assert(after.value.value.get(Setting) == "new")
      withSQLConf(Setting -> "newer") {
        assert(HadoopSettings.broadcast(spark).value.value.get(Setting) == "newer")
      }
      assert(before.value.value.get(Setting) == null)
    } finally hadoop.unset(Setting)
  }
}
