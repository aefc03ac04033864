package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.internal.connector.SimpleTableProvider
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * `spark.read.format("streamjoin-pending").load(checkpoint)`: the rows that joins hold back, as of one
 * batch. What is read is settled when the table is made, so that it is the same however often it is
 * computed.
 */
final class PendingSource extends SimpleTableProvider with DataSourceRegister {

  override def shortName(): String = PendingOptions.Format

  override def getTable(options: CaseInsensitiveStringMap): Table =
    PendingTable.of(SparkSession.active, PendingOptions.of(options))
}
