package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers

/** A provider that is initialized as Spark does for a partition. */
private[segment] object BegunProvider {

  def apply(
      id: StateStoreId,
      conf: StateStoreConf,
      hadoop: Configuration = new Configuration,
      made: SegmentStateStoreProvider = new SegmentStateStoreProvider
  ): SegmentStateStoreProvider = {
    made.init(
      id,
      StoredNumbers.key,
      StoredNumbers.value,
      StoredNumbers.encoder,
      useColumnFamilies = true,
      conf,
      hadoop,
      useMultipleValuesPerKey = false,
      None
    )
    made
  }
}
