package org.apache.spark.sql.streamjoin.checkpoint.segment

/**
 * A file of a partition's state: what has changed after one version, up to and with another. Several may
 * stand for one version: of tasks that ran twice, and those in which others were merged.
 *
 * {{{
 *   7_ID.change      from 6            40_ID.30.range    from 30         40_ID.whole     from 0
 * }}}
 *
 * @param id of the task that has written the version, whatever was merged since
 * @param from the version that it goes on from; that of 0 is empty
 */
private[segment] final case class StateFile(version: Long, id: String, from: Long) {

  /** Whether it needs no file before it. */
  def isWhole: Boolean = from == 0

  /** How many versions it stands for. */
  def span: Long = version - from

  def name: String =
    if (span == 1) s"${version}_$id.change"
    else if (isWhole) s"${version}_$id.whole"
    else s"${version}_$id.$from.range"
}

private[segment] object StateFile {
  private val Name = raw"(\d+)_([^.]+)\.(?:(\d+)\.)?(whole|change|range)".r
  private val Begin = raw"(\d+)_.*".r

  def change(version: Long, id: String): StateFile = StateFile(version, id, version - 1)

  def of(name: String): Option[StateFile] = name match {
    case Name(v, id, null, "change")                => Some(change(v.toLong, id))
    case Name(v, id, null, "whole")                 => Some(StateFile(v.toLong, id, 0))
    case Name(v, id, from, "range") if from != null => Some(StateFile(v.toLong, id, from.toLong))
    case _                                          => None
  }

  /** The version that a file is of, also one that is being written under another name. */
  def versionOf(name: String): Option[Long] = name.stripPrefix(".") match {
    case Begin(version) => Some(version.toLong)
    case _              => None
  }
}
