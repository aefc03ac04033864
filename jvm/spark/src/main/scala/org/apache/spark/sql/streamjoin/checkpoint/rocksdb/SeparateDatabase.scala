package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreConf,
  StateStoreId,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers

/** A database that no query uses, with a copy of the files on the local disk. */
private[rocksdb] object SeparateDatabase {

  def open(
      id: StateStoreId,
      conf: StateStoreConf,
      hadoopConf: Configuration
  ): StateStoreProvider = StateStoreProvider.createAndInit(
    StateStoreProviderId(id, UUID.randomUUID()),
    StoredNumbers.key,
    StoredNumbers.value,
    StoredNumbers.encoder,
    useColumnFamilies = true,
    conf,
    new Configuration(hadoopConf),
    useMultipleValuesPerKey = false,
    stateSchemaProvider = None
  )
}
