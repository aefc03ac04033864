package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.streamjoin.errors.StateErrors

/**
 * Version of a state format. It covers everything that this project writes to a checkpoint: files,
 * keys, numbers and the description.
 *
 * Raise it if code of this version could not read what the next one writes, or the reverse.
 *
 * @param format name of the format
 * @param current version that is written
 * @param alsoRead earlier versions that can be read
 */
private[streamjoin] final case class FormatNumber(
    format: String,
    current: Int,
    alsoRead: Set[Int] = Set.empty
) {

  /** Refuses state of a version that cannot be read. */
  def check(location: String, found: Option[Long]): Unit =
    if (!found.exists(n => n == current || alsoRead.exists(_ == n))) {
      throw StateErrors.incompatibleCheckpoint(
        location,
        "another version of streamjoin wrote its state, in a format that this version does not " +
          "read",
        found.fold(s"format $format without a number")(v => s"format $format $v"),
        s"format $format $current"
      )
    }
}
