package org.apache.spark.sql.streamjoin.checkpoint

import java.io.{BufferedOutputStream, File, FileOutputStream}
import java.nio.file.{
  FileAlreadyExistsException => ExistsAlready,
  FileSystemException,
  Files,
  Path => LocalPath
}
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.util.UUID

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFileManager,
  ClosedFileManager,
  FileManagers
}
import org.apache.spark.sql.streamjoin.spark.CheckpointFileManager.CancellableFSDataOutputStream

/**
 * The files of a checkpoint on a local disk, written by this process.
 *
 * Hadoop's own local file system asks other programs (`chmod`, `readlink`, `stat`) about each file that it
 * creates or renames, where its native library is missing, as it is in PySpark's wheel: most of what a small
 * batch took. A file becomes visible whole and by one rename, as there. Checksum files beside it (`.name.crc`)
 * are neither written nor read; one that Hadoop left is removed with the file that it speaks of, so that both
 * may be used on one checkpoint by turns.
 *
 * For `spark.sql.streaming.checkpointFileManagerClass`. Of paths that are not local it makes what Spark would.
 *
 * @param path a folder of the checkpoint
 * @throws java.io.FileNotFoundException from `open` and `list`, of what is not there
 * @throws org.apache.hadoop.fs.FileAlreadyExistsException when a file is closed that must not replace one
 */
class LocalCheckpointFiles private[checkpoint] (
    path: Path,
    hadoopConf: Configuration,
    link: LocalCheckpointFiles.Link
) extends ClosedFileManager {
  import LocalCheckpointFiles._

  /** As Spark makes it. */
  def this(path: Path, hadoopConf: Configuration) =
    this(path, hadoopConf, (to, from) => { Files.createLink(to, from); () })

  private val elsewhere =
    if (onLocalDisk(path, hadoopConf)) None
    else Some(CheckpointFileManager.create(path, unset(hadoopConf)))

  override def createAtomic(
      file: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream =
    elsewhere match {
      case Some(manager) => manager.createAtomic(file, overwriteIfPossible)
      case None          => new NewFile(local(file), overwriteIfPossible, link)
    }

  override def open(file: Path): FSDataInputStream = elsewhere.fold(reader.open(file))(_.open(file))

  override def list(folder: Path, filter: PathFilter): Array[FileStatus] = elsewhere match {
    case Some(manager) => manager.list(folder, filter)
    case None =>
      reader.listStatus(folder).filter(s =>
        !isChecksum(s.getPath.getName) && filter.accept(s.getPath)
      )
  }

  override def mkdirs(folder: Path): Unit =
    elsewhere.fold[Unit](Files.createDirectories(local(folder)))(_.mkdirs(folder))

  override def exists(file: Path): Boolean =
    elsewhere.fold(Files.exists(local(file)))(_.exists(file))

  override def delete(file: Path): Unit = elsewhere match {
    case Some(manager) => manager.delete(file)
    case None =>
      removeChecksum(local(file))
      val it = local(file).toFile
      if (it.isDirectory) FileUtils.deleteDirectory(it) else Files.deleteIfExists(it.toPath)
  }

  override def isLocal: Boolean = elsewhere.forall(_.isLocal)

  override def createCheckpointDirectory(): Path = elsewhere match {
    case Some(manager) => manager.createCheckpointDirectory()
    case None =>
      val qualified = reader.makeQualified(path)
      mkdirs(qualified)
      qualified
  }

  protected override def closeFiles(): Unit = elsewhere.foreach(FileManagers.close)
}

object LocalCheckpointFiles {

  /** Gives a file, the second, another name, the first, unless that is there. */
  private[checkpoint] type Link = (LocalPath, LocalPath) => Unit

  /**
   * The manager of a folder: this one where the folder is local and nobody asked for another by
   * `spark.sql.streaming.checkpointFileManagerClass`.
   */
  def manager(path: Path, hadoopConf: Configuration): CheckpointFileManager =
    if (hadoopConf.get(Setting) == null && onLocalDisk(path, hadoopConf))
      new LocalCheckpointFiles(path, hadoopConf)
    else CheckpointFileManager.create(path, hadoopConf)

  /**
   * One for all, of no settings: a manager of its own would keep those that it was made with, hundreds of kilobytes,
   * for as long as Spark keeps the query.
   */
  private lazy val reader = {
    val files = new RawLocalFileSystem
    files.initialize(FsConstants.LOCAL_FS_URI, new Configuration(false))
    files
  }

  private val Setting = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  /** By a file system of Hadoop's or of Hive's, which wraps it, and no other that somebody has put in its place. */
  private def onLocalDisk(path: Path, hadoopConf: Configuration): Boolean =
    path.getFileSystem(hadoopConf).getUri.getScheme == "file" &&
      hadoopConf.get("fs.file.impl", Hadoops) == Hadoops

  private val Hadoops = classOf[LocalFileSystem].getName

  private def unset(hadoopConf: Configuration): Configuration = {
    val copy = new Configuration(hadoopConf)
    copy.unset(Setting)
    copy
  }

  private def local(path: Path): LocalPath = new File(path.toUri.getPath).toPath

  private def isChecksum(name: String): Boolean = name.startsWith(".") && name.endsWith(".crc")

  private def removeChecksum(file: LocalPath): Unit =
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))

  /** Of java.io, for an interrupt of a task would close a channel for good. */
  private class NewFile(target: LocalPath, replaces: Boolean, link: Link, unfinished: LocalPath)
      extends CancellableFSDataOutputStream(
        new BufferedOutputStream(new FileOutputStream(unfinished.toFile))
      ) {

    def this(target: LocalPath, replaces: Boolean, link: Link) =
      this(
        target,
        replaces,
        link,
        target.resolveSibling(s".${target.getFileName}.${UUID.randomUUID}.tmp")
      )

    private var ended = false

    override def close(): Unit = synchronized {
      if (!ended) {
        ended = true
        var moved = false
        try {
          underlyingStream.close()
          removeChecksum(target)
          if (replaces) {
            Files.move(unfinished, target, ATOMIC_MOVE)
            moved = true
          } else appear()
        } finally if (!moved) Files.deleteIfExists(unfinished)
      }
    }

    override def cancel(): Unit = synchronized {
      if (!ended) {
        ended = true
        try underlyingStream.close()
        finally Files.deleteIfExists(unfinished)
      }
    }

    /** A link, for a rename would replace what another process has written meanwhile. */
    private def appear(): Unit =
      try link(target, unfinished)
      catch {
        case _: ExistsAlready => throw exists()
        // there are none on some file systems, as of a drive or a bucket that is mounted as a folder
        case _: UnsupportedOperationException | _: FileSystemException =>
          if (Files.exists(target)) throw exists()
          Files.move(unfinished, target, ATOMIC_MOVE)
      }

    private def exists() = new FileAlreadyExistsException(s"$target exists already")
  }
}
