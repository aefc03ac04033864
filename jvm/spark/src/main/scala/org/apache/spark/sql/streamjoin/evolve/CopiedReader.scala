package org.apache.spark.sql.streamjoin.evolve

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.rewrite.{RowPart, RowReader, StoredPart}

/** The rows of an operator as they are, in the same partitions. */
private[evolve] final case class CopiedReader(join: StoredJoin) extends RowReader[Unit] {

  override def parts: Int = join.partitions

  override def open(part: Int, hadoopConf: Configuration): RowPart[Unit] =
    new StoredPart[Unit](join, part, hadoopConf) {

      override def rows: Iterator[(Int, StoredRow)] = stored.rows.map(partition -> _)

      override def found: Unit = ()
    }
}

/** No rows, for an operator that starts without state. */
private[evolve] object NoRows extends RowReader[Unit] {

  override def parts: Int = 0

  override def open(part: Int, hadoopConf: Configuration): RowPart[Unit] =
    throw new NoSuchElementException(s"part $part")
}
