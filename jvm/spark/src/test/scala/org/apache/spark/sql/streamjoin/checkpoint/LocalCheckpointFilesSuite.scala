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

/** The contract of checkpoint files, and both file managers on one folder in turns. */
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

  test("a file exists when it is closed, and not before") {
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

  test("a cancelled file leaves no file behind") {
    inFolder { (files, folder) =>
      val out = files.createAtomic(new Path(folder, "1"), overwriteIfPossible = true)
      out.write(1)
      out.cancel()
      out.close()
      assert(names(files, folder).isEmpty)
    }
  }

  test("the second writer of a file fails, or replaces it if overwriting is requested") {
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

  test("without hard links, the second writer of a file also fails") {
    inFolder { (_, folder) =>
      // the error of Linux on a mounted drive
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

  test("a missing file or folder throws FileNotFoundException, and deleting it does nothing") {
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

  test("folders are created with their parents and deleted with their content") {
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

  test("the manager reads and replaces files of Hadoop, and Hadoop reads its files") {
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
      // with the old checksum file, this read would fail
      assert(IOUtils.toString(hadoops.open(path), "UTF-8") == "ours")
      writeByHadoop("theirs again")
      files.delete(path)
      assert(new java.io.File(folder.toUri.getPath).list().isEmpty)
    }
  }

  test("Spark creates the manager by class name, also for file systems that are not local") {
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

  test("the file classes, which Spark keeps for long, hold no Hadoop configuration") {
    for (kept <- Seq(classOf[LocalCheckpointFiles], classOf[HotKeyFiles]))
      assert(!kept.getDeclaredFields.map(_.getType).contains(classOf[Configuration]), kept)
  }

  test("the manager is not used if the user has configured another local file system") {
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

/** A file system whose scheme is not local. */
private class Elsewhere extends FilterFileSystem(new LocalFileSystem) {
  override def getUri: java.net.URI = java.net.URI.create("elsewhere:///")
  override def getScheme: String = "elsewhere"
}
