package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.spark.{
  StateStoreColFamilySchema,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider,
  StateStoreProviderId
}

/** A database that no query uses, with a copy of the files on the local disk. */
private[rocksdb] object SeparateDatabase {

  /** @param first the family that every database has */
  def open(
      id: StateStoreId,
      conf: StateStoreConf,
      hadoopConf: Configuration,
      first: StateStoreColFamilySchema = StoredNumbers.schema
  ): StateStoreProvider = StateStoreProvider.createAndInit(
    StateStoreProviderId(id, UUID.randomUUID()),
    first.keySchema,
    first.valueSchema,
    first.keyStateEncoderSpec.get,
    useColumnFamilies = true,
    conf,
    new Configuration(hadoopConf),
    useMultipleValuesPerKey = false,
    stateSchemaProvider = None
  )
}
