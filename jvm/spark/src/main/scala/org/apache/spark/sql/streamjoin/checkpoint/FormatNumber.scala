package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.streamjoin.errors.StateErrors

/**
 * The number of a format. It stands for all that a checkpoint holds of ours: files, keys, numbers, the
 * description. It is raised whenever code of this number could not go on from what the next one
 * writes, or the next one not from what this one has written.
 *
 * @param format its name
 * @param current under which state is written
 * @param alsoRead from which the current one goes on
 */
private[streamjoin] final case class FormatNumber(
    format: String,
    current: Int,
    alsoRead: Set[Int] = Set.empty
) {

  /** Refuses what was written under a number that is not read. */
  def check(location: String, found: Option[Long]): Unit =
    if (!found.exists(n => n == current || alsoRead.exists(_ == n))) {
      throw StateErrors.incompatibleCheckpoint(
        location,
        "its state was written by another version of streamjoin, in a format that this one does " +
          "not read",
        found.fold(s"format $format without a number")(v => s"format $format $v"),
        s"format $format $current"
      )
    }
}
