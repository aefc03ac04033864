package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv
import org.apache.spark.sql.streamjoin.checkpoint.LongRow
import org.apache.spark.sql.streamjoin.spark.{
  NoPrefixKeyStateEncoderSpec,
  StateStore,
  StateStoreColFamilySchema,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.util.Utils

/**
 * The limits of rows beside their first one, by row. The layout has them in the order of eviction,
 * and they may exceed the memory. So they are in a database on the local disk, until `close`.
 */
private[rocksdb] final class FurtherLimits(conf: StateStoreConf, hadoopConf: Configuration) {
  import FurtherLimits._

  private val folder =
    Utils.createTempDir(Utils.getLocalDir(SparkEnv.get.conf), "streamjoin-limits")
  private val provider =
    SeparateDatabase.open(StateStoreId(folder.toURI.toString, 0, 0), conf, hadoopConf, schema)
  private val store = provider.getStore(0, None)
  private val (key, value) = (new LongRow(2), new LongRow(1))

  /**
   * @param sequence identifies the row
   * @param number the number of the limit, from 1
   */
  def put(sequence: Long, number: Int, limit: Long): Unit =
    store.put(key(sequence, number), value(limit), Family)

  /** The limits of a row, by ascending number. */
  def of(sequence: Long): Array[Long] = {
    val found = mutable.ArrayBuilder.make[Long]
    var number = 1
    var next = store.get(key(sequence, number), Family)
    while (next != null) {
      found += next.getLong(0)
      number += 1
      next = store.get(key(sequence, number), Family)
    }
    found.result()
  }

  def close(): Unit = {
    store.abort()
    provider.close()
    Utils.deleteRecursively(folder)
  }
}

private object FurtherLimits {
  private val Family = StateStore.DEFAULT_COL_FAMILY_NAME

  private val schema = {
    val key =
      new StructType().add("sequence", LongType, nullable = false).add("number", LongType, false)
    val value = new StructType().add("limit", LongType, nullable = false)
    StateStoreColFamilySchema(Family, 0, key, 0, value, Some(NoPrefixKeyStateEncoderSpec(key)))
  }
}
