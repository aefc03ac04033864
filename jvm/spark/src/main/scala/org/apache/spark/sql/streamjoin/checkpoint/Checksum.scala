package org.apache.spark.sql.streamjoin.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32C

/** Checksum of a text in a checkpoint. The files of the state use the same one. */
private[checkpoint] object Checksum {

  def of(text: String): Long = {
    val sum = new CRC32C
    sum.update(text.getBytes(UTF_8))
    sum.getValue
  }
}
