package org.apache.spark.sql.streamjoin.warm

import org.apache.spark.sql.DataFrame

/**
 * The history of a stream.
 *
 * @param live a stream that the query reads
 * @param rows a table with the rows that the stream had before its first offset
 * @param offsets the columns of the table with the partition and the offset of each row in the
 *   topic of the stream
 */
final case class History(live: DataFrame, rows: DataFrame, offsets: Option[(String, String)])
