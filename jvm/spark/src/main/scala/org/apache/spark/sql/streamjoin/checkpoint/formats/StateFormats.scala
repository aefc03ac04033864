package org.apache.spark.sql.streamjoin.checkpoint.formats

import org.apache.spark.sql.streamjoin.checkpoint.StateFormat
import org.apache.spark.sql.streamjoin.checkpoint.rocksdb.RocksDBFormat
import org.apache.spark.sql.streamjoin.checkpoint.segment.SegmentFormat

/** Registry of the state formats. */
private[streamjoin] object StateFormats {

  val all: Seq[StateFormat] = Seq(SegmentFormat, RocksDBFormat)

  def find(name: String): Option[StateFormat] = all.find(_.name == name)

  def of(name: String): StateFormat =
    find(name).getOrElse(throw new NoSuchElementException(s"no state format $name"))
}
