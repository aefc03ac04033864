package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.internal.connector.SimpleTableProvider
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Data source of buffered rows, as of one batch:
 * `spark.read.format("streamjoin-pending").load(checkpoint)`.
 *
 * The batch is chosen when the table is created. Repeated evaluations therefore read the same rows.
 */
final class PendingSource extends SimpleTableProvider with DataSourceRegister {

  override def shortName(): String = PendingOptions.Format

  override def getTable(options: CaseInsensitiveStringMap): Table =
    PendingTable.of(SparkSession.active, PendingOptions.of(options))
}
