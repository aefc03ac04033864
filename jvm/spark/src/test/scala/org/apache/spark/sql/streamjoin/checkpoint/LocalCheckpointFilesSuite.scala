package org.apache.spark.sql.streamjoin.checkpoint

import java.io.FileNotFoundException
import java.nio.file.{FileSystemException, Files}

import org.apache.commons.io.{FileUtils, IOUtils}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileSystem, FilterFileSystem, Path}
import org.apache.hadoop.fs.{LocalFileSystem, PathFilter}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

/** What Spark asks of the files of a checkpoint, and both managers on one folder by turns. */
class LocalCheckpointFilesSuite extends AnyFunSuite {
  private val hadoopConf = new Configuration

  private def write(
      files: CheckpointFileManager,
      path: Path,
      text: String,
      replace: Boolean
  ): Unit = {
    val out = files.createAtomic(path, replace)
    out.write(text.getBytes("UTF-8"))
    out.close()
    out.close()
  }

  private def read(files: CheckpointFileManager, path: Path): String = {
    val in = files.open(path)
    try IOUtils.toString(in, "UTF-8")
    finally in.close()
  }

  private def inFolder(body: (LocalCheckpointFiles, Path) => Unit): Unit = {
    val folder = Files.createTempDirectory("files").toFile
    val path = new Path(folder.toURI)
    try body(new LocalCheckpointFiles(path, hadoopConf), path)
    finally FileUtils.deleteDirectory(folder)
  }

  private def names(files: CheckpointFileManager, folder: Path): Set[String] =
    files.list(folder).map(_.getPath.getName).toSet

  test("a file is there when it is closed, and not before") {
    inFolder { (files, folder) =>
      val path = new Path(folder, "1")
      val out = files.createAtomic(path, overwriteIfPossible = false)
      out.write(1)
      out.flush()
      assert(!files.exists(path))
      assert(names(files, folder).forall(_.startsWith(".1.")))
      assert(out.getPos == 1)
      out.close()
      assert(files.exists(path) && names(files, folder) == Set("1"))
    }
  }

  test("a file that is given up leaves nothing") {
    inFolder { (files, folder) =>
      val out = files.createAtomic(new Path(folder, "1"), overwriteIfPossible = true)
      out.write(1)
      out.cancel()
      out.close()
      assert(names(files, folder).isEmpty)
    }
  }

  test("of two that write one file, the second fails or replaces it, as is asked for") {
    inFolder { (files, folder) =>
      val path = new Path(folder, "1")
      val late = files.createAtomic(path, overwriteIfPossible = false)
      write(files, path, "first", replace = false)
      intercept[FileAlreadyExistsException](late.close())
      assert(read(files, path) == "first")
      write(files, path, "second", replace = true)
      assert(read(files, path) == "second" && names(files, folder) == Set("1"))
    }
  }

  test("a file system without links has files that must not replace one, too") {
    inFolder { (_, folder) =>
      // what Linux says of a mounted drive
      val files = new LocalCheckpointFiles(
        folder,
        hadoopConf,
        (to, from) => throw new FileSystemException(s"$to", s"$from", "Operation not supported")
      )
      val path = new Path(folder, "1")
      val late = files.createAtomic(path, overwriteIfPossible = false)
      write(files, path, "first", replace = false)
      intercept[FileAlreadyExistsException](late.close())
      assert(read(files, path) == "first" && names(files, folder) == Set("1"))
    }
  }

  test("what is not there") {
    inFolder { (files, folder) =>
      val path = new Path(folder, "none")
      intercept[FileNotFoundException](files.open(path))
      intercept[FileNotFoundException](files.list(path))
      intercept[FileNotFoundException](
        write(files, new Path(path, "1"), "no folder", replace = true)
      )
      files.delete(path)
      assert(!files.exists(path))
    }
  }

  test("folders are made with those above them, and deleted with all in them") {
    inFolder { (files, folder) =>
      val inner = new Path(folder, "a b/%20/c")
      files.mkdirs(inner)
      files.mkdirs(inner)
      write(files, new Path(inner, "1"), "x", replace = true)
      val ones: PathFilter = _.getName == "2"
      assert(files.list(inner, ones).isEmpty)
      files.delete(new Path(folder, "a b"))
      assert(names(files, folder).isEmpty)
      val made = new LocalCheckpointFiles(inner, hadoopConf).createCheckpointDirectory()
      assert(files.exists(made) && made.toString.startsWith("file:/"))
    }
  }

  test("Hadoop's files are read and replaced, and the other way round") {
    inFolder { (files, folder) =>
      val hadoops = FileSystem.getLocal(hadoopConf)
      val path = new Path(folder, "1")
      def writeByHadoop(text: String): Unit = {
        val out = hadoops.create(path, true)
        out.write(text.getBytes("UTF-8"))
        out.close()
      }
      writeByHadoop("theirs")
      assert(hadoops.getChecksumFile(path).getName == ".1.crc")
      assert(read(files, path) == "theirs" && names(files, folder) == Set("1"))
      write(files, path, "ours", replace = true)
      // its checksum would be wrong, had the old one stayed
      assert(IOUtils.toString(hadoops.open(path), "UTF-8") == "ours")
      writeByHadoop("theirs again")
      files.delete(path)
      assert(new java.io.File(folder.toUri.getPath).list().isEmpty)
    }
  }

  test("Spark makes it by its name, and what is not local is made by Spark") {
    inFolder { (_, folder) =>
      val named = new Configuration(hadoopConf)
      val setting = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key
      named.set(setting, classOf[LocalCheckpointFiles].getName)
      assert(CheckpointFileManager.create(folder, named).isInstanceOf[LocalCheckpointFiles])
      named.set("fs.elsewhere.impl", classOf[Elsewhere].getName)
      val far = CheckpointFileManager.create(new Path("elsewhere:///tmp"), named)
      assert(far.isInstanceOf[LocalCheckpointFiles] && !far.isLocal)
    }
  }

  test("Spark keeps it for long: of what it was made with it keeps the folder alone") {
    for (kept <- Seq(classOf[LocalCheckpointFiles], classOf[HotKeyFiles]))
      assert(!kept.getDeclaredFields.map(_.getType).contains(classOf[Configuration]), kept)
  }

  test("nobody's choice is put aside") {
    inFolder { (_, folder) =>
      assert(LocalCheckpointFiles.manager(folder, hadoopConf).isInstanceOf[LocalCheckpointFiles])
      val chosen = new Configuration(hadoopConf)
      chosen.set("fs.file.impl", classOf[Chosen].getName)
      chosen.setBoolean("fs.file.impl.disable.cache", true)
      assert(!LocalCheckpointFiles.manager(folder, chosen).isInstanceOf[LocalCheckpointFiles])
    }
  }
}

/** Another file system for local files. */
private class Chosen extends LocalFileSystem

/** A file system that is not on this machine's disk, as far as its name tells. */
private class Elsewhere extends FilterFileSystem(new LocalFileSystem) {
  override def getUri: java.net.URI = java.net.URI.create("elsewhere:///")
  override def getScheme: String = "elsewhere"
}
