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
 * Checkpoint file manager for a local disk that starts no other programs.
 *
 * Without its native library, Hadoop's local file system starts programs (`chmod`, `readlink`,
 * `stat`) for each file that it creates or renames. The PySpark wheel lacks that library, and these
 * programs dominate the time of a small batch.
 *
 * As in Hadoop, a complete file appears with one rename. Checksum files (`.name.crc`) are neither
 * written nor read. If Hadoop wrote one, it is removed together with its file, so that a checkpoint
 * may be used with both managers in turn.
 *
 * Set it with `spark.sql.streaming.checkpointFileManagerClass`. For paths that are not local, it
 * delegates to the manager that Spark would use.
 *
 * @param path folder of the checkpoint
 * @throws java.io.FileNotFoundException from `open` and `list`, if the path does not exist
 * @throws org.apache.hadoop.fs.FileAlreadyExistsException from `close` of a new file that must not
 *   replace an existing one
 */
class LocalCheckpointFiles private[checkpoint] (
    path: Path,
    hadoopConf: Configuration,
    link: LocalCheckpointFiles.Link
) extends ClosedFileManager {
  import LocalCheckpointFiles._

  /** Spark calls this constructor through reflection. */
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
      case None =>
        val target = local(file)
        val unfinished = target.resolveSibling(s".${target.getFileName}.${UUID.randomUUID}.tmp")
        new NewFile(target, unfinished, overwriteIfPossible, link)
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

  /** Links its first argument to the file of the second one. Fails if the first one exists. */
  private[checkpoint] type Link = (LocalPath, LocalPath) => Unit

  /**
   * The manager of a folder. It is this one if the folder is local and
   * `spark.sql.streaming.checkpointFileManagerClass` is not set.
   */
  def manager(path: Path, hadoopConf: Configuration): CheckpointFileManager =
    if (hadoopConf.get(Setting) == null && onLocalDisk(path, hadoopConf))
      new LocalCheckpointFiles(path, hadoopConf)
    else CheckpointFileManager.create(path, hadoopConf)

  /**
   * The files and folders that are named by a number, ascending. A killed process leaves unfinished
   * files, which have other names.
   */
  private[streamjoin] def numbers(manager: CheckpointFileManager, folder: Path): Seq[Long] =
    if (!manager.exists(folder)) Nil
    else manager.list(folder).toSeq.flatMap(_.getPath.getName.toLongOption).sorted

  /** Writes a file that appears with all of its content or not at all. */
  private[streamjoin] def write(manager: CheckpointFileManager, file: Path, replaces: Boolean)(
      content: CancellableFSDataOutputStream => Unit
  ): Unit = {
    val out = manager.createAtomic(file, replaces)
    OnFailure(out.cancel()) {
      content(out)
      out.close()
    }
  }

  /**
   * Shared by all managers, without settings. Otherwise each manager would retain its Hadoop
   * configuration, hundreds of kilobytes, while Spark retains the query.
   */
  private lazy val reader = {
    val files = new RawLocalFileSystem
    files.initialize(FsConstants.LOCAL_FS_URI, new Configuration(false))
    files
  }

  private val Setting = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  /**
   * Whether Hadoop's local file system serves the path, also if Hive wraps it. A custom
   * implementation is left in place.
   */
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

  /** A file of `java.io`. An interrupted task would close a channel of `java.nio` for good. */
  private class NewFile(target: LocalPath, unfinished: LocalPath, replaces: Boolean, link: Link)
      extends CancellableFSDataOutputStream(
        new BufferedOutputStream(new FileOutputStream(unfinished.toFile))
      ) {

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

    /**
     * Links instead of renaming: a rename would replace a file that another process has written.
     */
    private def appear(): Unit =
      try link(target, unfinished)
      catch {
        case _: ExistsAlready => throw exists()
        // some file systems have no links, for example a mounted network drive or bucket
        case _: UnsupportedOperationException | _: FileSystemException =>
          if (Files.exists(target)) throw exists()
          Files.move(unfinished, target, ATOMIC_MOVE)
      }

    private def exists() = new FileAlreadyExistsException(s"$target exists already")
  }
}
