package org.apache.spark.sql.streamjoin.physical.stateful.operator

import java.util.UUID

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.test.SharedSparkSession

class HadoopSettingsSuite extends SparkFunSuite with SharedSparkSession {

  private val run = UUID.randomUUID

  private val Setting = "streamjoin.test.secret"

  test("unchanged settings are broadcast once for a run") {
    assert(HadoopSettings.broadcast(spark, run) eq HadoopSettings.broadcast(spark, run))
  }

  test("another run has a separate broadcast") {
    assert(HadoopSettings.broadcast(spark, run) ne HadoopSettings.broadcast(spark, UUID.randomUUID))
  }

  test("changed settings of Hadoop or the session are broadcast again") {
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
