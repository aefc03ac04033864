package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io.DataInputStream

import scala.collection.mutable

import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

/** The versions of one partition's state, as its files hold them. */
private[segment] final class StoredVersions(files: StateFiles) {

  /** The file of a version: the one with this id, or the one that was written last. */
  def find(number: Long, id: Option[String]): StateFile = {
    val found = files.list().filter(f => f.version == number && id.forall(_ == f.id))
    found.lastOption.fold(throw missing(number)) { last =>
      found.find(f => f.id == last.id && f.whole).getOrElse(last)
    }
  }

  /**
   * Reads a file and those before it that it needs.
   *
   * @param visit takes the numbers and the rows of one file
   * @return the files, the newest first
   */
  def read(from: StateFile)(visit: (
      Map[String, Long],
      DataInputStream
  ) => Unit): List[StateFile] = {
    val chain = mutable.ListBuffer.empty[StateFile]
    lazy val wholes = files.list().filter(_.whole).toSet
    var next: Option[StateFile] = Some(from)
    while (next.nonEmpty) {
      val file = next.get
      chain += file
      val (_, before) = files.read(file)(in => visit(StoredMap.read(in), in))
      next = before.map { id =>
        val change = StateFile(file.version - 1, id, whole = false)
        val whole = change.copy(whole = true)
        if (wholes(whole)) whole else change
      }
    }
    chain.toList
  }

  private def missing(number: Long) =
    StreamJoinErrors.incompatibleCheckpoint(
      files.toString,
      s"there is no state of version $number",
      files.list().map(_.name).mkString("files ", ", ", ""),
      s"a file ${number}_*"
    )
}
