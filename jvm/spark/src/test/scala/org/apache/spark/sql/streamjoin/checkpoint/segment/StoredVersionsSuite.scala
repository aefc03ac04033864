package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.nio.file.{Files, NoSuchFileException}

import scala.util.Random

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.testing.RandomCases

/** Which files are kept for the retained versions. */
class StoredVersionsSuite extends AnyFunSuite {
  import StoredVersionsSuite._

  test("the file before a range is kept while a whole ends inside the range") {
    inFolder { folder =>
      val files = new StateFiles(folder, new Configuration, "lz4")
      val versions = new StoredVersions(files)
      def write(file: StateFile, before: Option[StateFile]) =
        files.write(file, before)(StoredMap.write(Map.empty, _))
      files.create()
      val changes = (1L to 21L).map(StateFile.change(_, "a"))
      for ((file, before) <- changes.zip(None +: changes.map(Some(_)))) write(file, before)
      val wholes = Seq(StateFile(10, "a", 0), StateFile(13, "a", 0))
      wholes.foreach(write(_, None))
      versions.keep(20, changes.lastOption)
      assert(files.list().toSet == wholes.toSet ++ changes.filter(_.version > 13))
      // another provider had not listed the second whole
      val range = StateFile(20, "a", 10)
      write(range, wholes.headOption)
      val read = versions.read(versions.find(21, None))((_, _) => ())
      assert(read == List(changes.last, range, wholes.head))
      versions.keep(21, changes.lastOption)
      assert(files.list().toSet == read.toSet)
    }
  }

  test("retained versions can be read while other providers merge and delete") {
    RandomCases.forAll(60)(random => inFolder(new History(_, random).run()))
  }

  private def inFolder(body: Path => Unit): Unit = {
    val folder = Files.createTempDirectory("versions")
    try body(new Path(folder.toUri))
    finally FileUtils.deleteDirectory(folder.toFile)
  }
}

private object StoredVersionsSuite {
  private val Retained = 1

  /**
   * Three executors that commit, merge and delete, also between each other's writes and deletes.
   */
  private final class History(folder: Path, random: Random) {
    private var newest = 0L
    private var depth = 0
    private val executors = Seq.fill(3)(new Executor)

    def run(): Unit = {
      executors.head.files.create()
      for (_ <- 1 to 100) {
        act()
        for (version <- newest - Retained to newest if version > 0) executors.head.read(version)
      }
    }

    private def act(): Unit = if (depth < 3) {
      depth += 1
      val one = executors(random.nextInt(executors.length))
      random.nextInt(5) match {
        case 0 | 1 => one.commit()
        case 2 | 3 => one.merge()
        case _     => one.keep()
      }
      depth -= 1
    }

    private final class Executor {
      private var version = Version(0, Nil, Map.empty)
      private var maintains = false

      val files: StateFiles = new StateFiles(
        folder,
        SteppedFiles.settings {
          case SteppedFiles.Writes(_) | SteppedFiles.Deletes(_) if random.nextBoolean() => act()
          case _                                                                        =>
        },
        "lz4"
      )
      private val versions = new StoredVersions(files)

      def read(number: Long): List[StateFile] = {
        val chain = versions.readAgainIfMissing {
          versions.read(versions.find(number, None))((_, _) => ())
        }
        assert(chain.map(_.span).sum == number && chain.head.version == number)
        chain
      }

      def commit(): Unit = {
        val before = newest
        if (version.number != before) version = Version(before, read(before), Map.empty)
        val file = StateFile.change(before + 1, s"${random.nextInt(1000000)}")
        write(file, version.newestFile)
        // not if others have committed a later version
        if (version.number == before) version = version.next(file, Map.empty)
        newest = math.max(newest, before + 1)
      }

      /** Merges more than the rule requires: any whole, and any range with valid ends. */
      def merge(): Unit = maintain {
        val chain = version.files
        val choices = for {
          from <- chain.indices
          until <- from + 2 to chain.length
          some = chain.slice(from, until)
          span = some.head.version - some.last.from
          if until == chain.length || Seq(10L, 100L).contains(span) && some.head.version % span == 0
        } yield some -> chain.lift(until)
        if (choices.nonEmpty) {
          val (some, before) = choices(random.nextInt(choices.length))
          val one = some.head.copy(from = before.fold(0L)(_ => some.last.from))
          if (some.forall(files.exists)) {
            write(one, before)
            version = version.mergedTo(one)
          }
        }
      }

      def keep(): Unit = maintain(versions.keep(version.number - Retained, version.newestFile))

      /** One maintenance of an executor at a time. */
      private def maintain(action: => Unit): Unit = if (!maintains) {
        maintains = true
        try action
        finally maintains = false
      }

      /** Ignores that another executor deleted the unfinished file of a late write. */
      private def write(file: StateFile, before: Option[StateFile]): Unit =
        try {
          files.write(file, before)(StoredMap.write(Map.empty, _))
          ()
        } catch {
          case _: NoSuchFileException if file.version < newest =>
        }
    }
  }
}
