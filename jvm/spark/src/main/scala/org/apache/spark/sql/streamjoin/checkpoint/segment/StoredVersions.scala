package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io.FileNotFoundException

import scala.collection.mutable
import scala.util.Using

import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}

import io.streamjoin.state.segment.history.PackedInput

/** The versions of one partition's state, read from its files. */
private[segment] final class StoredVersions(files: StateFiles) {

  /**
   * The file of a version: the one with this ID, or any of the last generation. Files of one
   * generation are of attempts of one task, and have equal rows.
   */
  def find(number: Long, id: Option[String]): StateFile = {
    val found = files.list().filter(f => f.version == number && id.forall(_ == f.id))
    val last = found.maxByOption(_.generation)
    last.fold(throw missing(number))(one => widest(found.filter(_.id == one.id)))
  }

  /** A generation above that of every file. */
  def nextGeneration(): Long = files.list().map(_.generation).maxOption.getOrElse(0L) + 1

  /**
   * Reads a version, and repeats that if a file is missing: maintenance may merge and delete files
   * after they were listed.
   */
  def readAgainIfMissing[T](read: => T, attempts: Int = 5): T =
    try read
    catch {
      case e: StreamJoinRuntimeException
          if e.getCause.isInstanceOf[FileNotFoundException] && attempts > 1 =>
        readAgainIfMissing(read, attempts - 1)
    }

  /**
   * Opens a file, and then the files before it that it needs, the newest first. The caller closes
   * each.
   */
  def open(from: StateFile): Iterator[(StateFile, StateFiles#OpenFile)] = {
    lazy val merged = files.list().filter(_.span > 1).groupBy(f => (f.version, f.id))
    Iterator.unfold(Option(from))(_.map { file =>
      val opened = files.open(file)
      val before = opened.before.map { id =>
        merged.get((file.from, id)).fold(StateFile.change(file.from, id))(widest)
      }
      (file -> opened, before)
    })
  }

  /**
   * Reads a file and the files before it that it needs.
   *
   * @param visit receives the numbers and the rows of one file
   * @return the files, the newest first
   */
  def read(from: StateFile)(visit: (Map[String, Long], PackedInput) => Unit): List[StateFile] =
    open(from).map { case (file, opened) =>
      readAll(opened)(visit)
      file
    }.toList

  /** Reads one file without those before it. */
  def readOne(file: StateFile)(visit: (Map[String, Long], PackedInput) => Unit): Unit =
    readAll(files.open(file))(visit)

  private def readAll(file: StateFiles#OpenFile)(visit: (
      Map[String, Long],
      PackedInput
  ) => Unit): Unit =
    Using.resource(file) { _ =>
      file.read(in => visit(StoredMap.read(in), in))
      file.check()
    }

  /**
   * Deletes files that no version from this one on needs.
   *
   * @param newest see [[StateFiles.deleteBefore]]
   */
  def keep(from: Long, newest: Option[StateFile]): Unit =
    if (from > 1) files.deleteBefore(from, newest)(neededFrom(from, _))

  private def neededFrom(from: Long, listed: Seq[StateFile]): Set[StateFile] = {
    val all = listed.groupBy(_.version)
    val needed = mutable.Set.empty[StateFile]
    // follow each retained file to the version from which it continues
    val asked = mutable.Queue.from(all.keysIterator.filter(_ >= from).flatMap { version =>
      all(version)
    })
    while (asked.nonEmpty) {
      val file = asked.dequeue()
      if (needed.add(file)) {
        val below = if (file.isWhole) MergeRule.besides(file) else List(file.from)
        for (version <- below if version < from)
          asked ++= all.getOrElse(version, Nil).groupBy(_.id).values.map(widest)
      }
    }
    needed.toSet
  }

  /** The file that needs the fewest others, of several files of one version. */
  private def widest(some: Iterable[StateFile]): StateFile = some.minBy(_.from)

  private def missing(number: Long) =
    StateErrors.incompatibleCheckpoint(
      files.toString,
      s"there is no state of version $number",
      files.list().map(_.name).mkString("files ", ", ", ""),
      s"a file ${number}_*"
    )
}
