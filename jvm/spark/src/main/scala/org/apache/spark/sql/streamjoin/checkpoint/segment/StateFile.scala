package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.UUID

/**
 * A file of a partition's state, with the changes after one version up to and including another.
 *
 * Several files may belong to one version, if a task ran twice or files were merged.
 *
 * {{{
 *   7_ID.change      from 6            40_ID.30.range    from 30         40_ID.whole     from 0
 * }}}
 *
 * An ID begins with a generation, a Lamport clock of the partition: whoever reads a version writes
 * later ones in a generation above that of every file that exists. So the files of a run are above
 * those that earlier runs have left, whatever the clocks of their machines say:
 *
 * {{{
 *   run 1   reads 6, writes 7_g3-A, and stops before the batch is committed
 *   run 2   reads 6, writes 7_g4-B
 *   run 3   reads 7: the file of run 2
 * }}}
 *
 * @param id ID of the task that has written the version; a merge keeps it
 * @param from the version from which it continues. Version 0 is empty
 */
private[segment] final case class StateFile(version: Long, id: String, from: Long) {

  /** Whether it needs no file before it. */
  def isWhole: Boolean = from == 0

  /** The number of its versions. */
  def span: Long = version - from

  def generation: Long = id match {
    case StateFile.OfGeneration(generation) => generation.toLong
    case _                                  => 0
  }

  def name: String =
    if (span == 1) s"${version}_$id.change"
    else if (isWhole) s"${version}_$id.whole"
    else s"${version}_$id.$from.range"
}

private[segment] object StateFile {
  private val Name = raw"(\d+)_([^.]+)\.(?:(\d+)\.)?(whole|change|range)".r
  private val OfGeneration = raw"g(\d+)-.*".r
  private val Begin = raw"(\d+)_.*".r

  def newId(generation: Long): String = s"g$generation-${UUID.randomUUID}"

  def change(version: Long, id: String): StateFile = StateFile(version, id, version - 1)

  def of(name: String): Option[StateFile] = name match {
    case Name(v, id, null, "change")                => Some(change(v.toLong, id))
    case Name(v, id, null, "whole")                 => Some(StateFile(v.toLong, id, 0))
    case Name(v, id, from, "range") if from != null => Some(StateFile(v.toLong, id, from.toLong))
    case _                                          => None
  }

  /** The version in a file name, also in the temporary name of an unfinished file. */
  def versionOf(name: String): Option[Long] = name.stripPrefix(".") match {
    case Begin(version) => Some(version.toLong)
    case _              => None
  }
}
