package org.apache.spark.sql.streamjoin.rescale

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.rewrite.{RowPart, RowReader, StoredPart}

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.HotKey

/**
 * What the rows of a partition show of their keys.
 *
 * @param readings for each side, the readings of the keys that all rows agree with
 * @param hotKeys hot keys with rows in it, with their new partitions
 */
private[rescale] final case class FoundKeys(
    readings: BySide[Set[Int]],
    hotKeys: Map[HotKey, HotKey]
)

/**
 * The rows of an operator as they are, in other partitions.
 *
 * @param keys for each side, the readings of the stored keys that are possible
 * @param to the new number of partitions
 */
private[rescale] final case class StoredReader(
    join: StoredJoin,
    keys: BySide[Seq[KeyReading]],
    to: Int
) extends RowReader[FoundKeys] {

  override def parts: Int = join.partitions

  override def open(part: Int, hadoopConf: Configuration): RowPart[FoundKeys] =
    new MovedPart(this, part, hadoopConf)
}

private final class MovedPart(reader: StoredReader, partition: Int, hadoopConf: Configuration)
    extends StoredPart[FoundKeys](reader.join, partition, hadoopConf) {

  private val places = new RowPlaces(reader.join, reader.keys, reader.to, partition)

  override def rows: Iterator[(Int, StoredRow)] = stored.rows.flatMap { row =>
    val targets = mutable.Buffer.empty[(Int, StoredRow)]
    places.foreach(row)((target, key) => targets += target -> row.copy(key = key))
    targets.iterator
  }

  override def found: FoundKeys =
    FoundKeys(BySide.of((side: Side) => places.readings(side)), places.hotKeys)
}
