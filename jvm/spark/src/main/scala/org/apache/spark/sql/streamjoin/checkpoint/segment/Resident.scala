package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io.DataOutputStream

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.streamjoin.state.segment.SegmentJoinState
import io.streamjoin.state.segment.history.PackedInput

/**
 * A version of a partition's state.
 *
 * @param files the files from which it can be read, the newest first
 * @param numbers named numbers, stored beside the rows
 */
private[segment] final case class Version(
    number: Long,
    files: List[StateFile],
    numbers: Map[String, Long]
) {

  def newestFile: Option[StateFile] = files.headOption

  def next(file: StateFile, numbers: Map[String, Long]): Version =
    copy(number + 1, file :: files, numbers)

  /**
   * Replaces merged files by their result. Returns this version unchanged if its files are not
   * those of the merge. That happens if another provider has merged some of them with earlier ones:
   * `one` then begins inside a file.
   */
  def mergedTo(one: StateFile): Version =
    if (
      files.exists(f => f.version == one.version && f.id == one.id && f.from > one.from) &&
      files.exists(_.from == one.from)
    ) {
      copy(files =
        files.takeWhile(_.version > one.version) ++ (one :: files.dropWhile(_.version > one.from))
      )
    } else this
}

/**
 * Rows in memory, at a version.
 *
 * @param before the version that a rollback restores, if any
 */
private[segment] final class Resident(
    val rows: SegmentJoinState[UnsafeRow],
    var version: Version,
    var before: Option[Version]
) {

  /**
   * The same rows at the current version or, after a rollback, the one before it; none for any
   * other version.
   */
  def at(number: Long, id: Option[String]): Option[Resident] = {
    def fits(v: Version) = v.number == number && id.forall(i => v.newestFile.exists(_.id == i))
    if (fits(version)) {
      rows.seal()
      Some(new Resident(rows, version, None))
    } else {
      before.filter(fits).map { v =>
        rows.rollback()
        new Resident(rows, v, None)
      }
    }
  }

  /** The rows after a commit. */
  def committed(next: Version): Resident = new Resident(rows, next, Some(version))

  /** The rows after a rollback of all uncommitted changes. */
  def aborted(): Resident = {
    rows.rollback()
    new Resident(rows, version, None)
  }

  def mergedTo(one: StateFile): Unit = {
    version = version.mergedTo(one)
    before = before.map(_.mergedTo(one))
  }
}

/** Serialization of named numbers. */
private[segment] object StoredMap {

  def write(numbers: Map[String, Long], out: DataOutputStream): Unit = {
    out.writeInt(numbers.size)
    for ((name, number) <- numbers.toSeq.sorted) {
      out.writeUTF(name)
      out.writeLong(number)
    }
  }

  def read(in: PackedInput): Map[String, Long] =
    Seq.fill(in.int())(in.text() -> in.long()).toMap
}
