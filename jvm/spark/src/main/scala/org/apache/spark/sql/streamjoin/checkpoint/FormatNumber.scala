package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.streamjoin.errors.StateErrors

/**
 * Version of everything that this project writes to a checkpoint, in both state formats: files,
 * keys, numbers and the description.
 *
 * Raise it if code of this version could not read what the next one writes, or the reverse.
 */
private[streamjoin] object FormatNumber {

  val Current: Int = 1

  /**
   * Refuses what another version has written.
   *
   * @param format name of the state format
   */
  def check(location: String, format: String, found: Option[Long]): Unit =
    if (!found.contains(Current.toLong)) {
      throw StateErrors.incompatibleCheckpoint(
        location,
        "another version of streamjoin wrote its state, in a format that this version does not " +
          "read",
        found.fold(s"format $format without a number")(v => s"format $format $v"),
        s"format $format $Current"
      )
    }
}
