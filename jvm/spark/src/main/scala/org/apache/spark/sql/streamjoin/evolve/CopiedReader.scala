package org.apache.spark.sql.streamjoin.evolve

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.rewrite.{RowPart, RowReader}
import org.apache.spark.util.SerializableConfiguration

import io.streamjoin.model.BySide

/** The rows of an operator as they are, in the same partitions. */
private[evolve] final case class CopiedReader(join: StoredJoin) extends RowReader[Unit] {

  override def parts(
      context: SparkContext,
      hadoopConf: Broadcast[SerializableConfiguration]
  ): RDD[RowPart[Unit]] =
    RowReader.numbered(join.partitions, context, hadoopConf)(new CopiedPart(join, _, _))
}

private final class CopiedPart(
    join: StoredJoin,
    override val partition: Int,
    hadoopConf: Configuration
) extends RowPart[Unit] {
  private val stored = join.read(partition, hadoopConf, inUse = false)

  override def numbers: Map[String, Long] = stored.numbers

  override def evicted: BySide[Seq[Long]] = BySide.of(stored.evicted(_).toSeq)

  override def rows: Iterator[(Int, StoredRow)] = stored.rows.map(partition -> _)

  override def found: Unit = ()

  override def close(): Unit = stored.close()
}

/** No rows, for an operator that starts without state. */
private[evolve] object NoRows extends RowReader[Unit] {

  override def parts(
      context: SparkContext,
      hadoopConf: Broadcast[SerializableConfiguration]
  ): RDD[RowPart[Unit]] = context.emptyRDD
}
