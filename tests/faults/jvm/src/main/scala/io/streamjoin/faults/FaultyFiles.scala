package io.streamjoin.faults

import java.io.{ByteArrayOutputStream, IOException}
import java.net.URI
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FSDataOutputStream, FileStatus, Path}
import org.apache.hadoop.fs.RawLocalFileSystem
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/**
 * The files of the local disk, of which one operation fails on purpose.
 *
 * The authority of a path names the process that asks:
 *
 * {{{
 *   arm("p7", 12, after = false, dies = true)
 *   faulty://p7/tmp/checkpoint/offsets/3       the 12th operation of p7 fails, and all later ones
 *   faulty://p8/tmp/checkpoint/offsets/3       the same file, for a process that lives
 * }}}
 *
 * A file has its bytes when it is closed. If the close fails, it has half of them.
 */
final class FaultyFiles extends RawLocalFileSystem {
  import FaultyFiles._

  private var uri: URI = _
  private var process: Process = _

  override def initialize(name: URI, conf: Configuration): Unit = {
    super.initialize(name, conf)
    uri = URI.create(s"$Scheme://${name.getAuthority}")
    process = of(name.getAuthority)
  }

  override def getScheme: String = Scheme
  // the constructor of the base class asks, too
  override def getUri: URI = if (uri == null) super.getUri else uri

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    process.operation(super.open(path, bufferSize))

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    val file = process.operation(
      super.create(path, overwrite, bufferSize, replication, blockSize, progress)
    )
    new FSDataOutputStream(new WrittenOnClose(file, process), null)
  }

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = create(path, overwrite, bufferSize, replication, blockSize, progress)

  override def rename(from: Path, to: Path): Boolean = process.operation(super.rename(from, to))

  override def delete(path: Path, recursive: Boolean): Boolean =
    process.operation(super.delete(path, recursive))

  override def listStatus(path: Path): Array[FileStatus] = process.operation(super.listStatus(path))

  override def mkdirs(path: Path): Boolean = process.operation(super.mkdirs(path))

  override def mkdirs(path: Path, permission: FsPermission): Boolean = mkdirs(path)

  override def getFileStatus(path: Path): FileStatus = process.operation(super.getFileStatus(path))

  /** Hadoop starts a program for each. */
  override def setPermission(path: Path, permission: FsPermission): Unit = ()
}

object FaultyFiles {
  private val Scheme = "faulty"
  private val processes = new ConcurrentHashMap[String, Process]

  private def of(process: String): Process = processes.computeIfAbsent(process, _ => new Process)

  /**
   * Lets an operation of a process fail.
   *
   * @param operation its number, from 1
   * @param after whether it takes effect before it fails
   * @param dies whether all later operations fail, too
   */
  def arm(process: String, operation: Int, after: Boolean, dies: Boolean): Unit =
    of(process).arm(operation, after, dies)

  /** The operation that has failed; empty if none has. */
  def fired(process: String): String = of(process).fired

  /** From here on no operation fails. */
  def revive(process: String): Unit = of(process).revive()

  private final class Process {
    private var left = 0
    private var after, dies, dead = false
    private var failed = ""
    private val inside = ThreadLocal.withInitial(() => false)

    def arm(operation: Int, after: Boolean, dies: Boolean): Unit = synchronized {
      left = operation
      this.after = after
      this.dies = dies
      failed = ""
    }

    def fired: String = synchronized(failed)

    def revive(): Unit = synchronized {
      left = 0
      dead = false
      failed = ""
    }

    /** Whether the operation that begins fails: before its effect, or after it. */
    private def next(): Option[Boolean] = synchronized {
      if (dead) Some(false)
      else {
        left -= 1
        if (left != 0) None
        else {
          dead = dies
          failed = Thread.currentThread.getStackTrace.toSeq
            .filter(_.getClassName.contains("streaming"))
            .take(4)
            .mkString(" < ")
          if (failed.isEmpty) failed = Thread.currentThread.getName
          Some(after)
        }
      }
    }

    /**
     * Performs an operation, of which Hadoop may perform others.
     *
     * @param half what is left of its effect if it fails
     */
    def operation[T](what: => T, half: => Unit = ()): T =
      if (inside.get) what
      else {
        inside.set(true)
        try next() match {
            case None => what
            case Some(after) =>
              if (after) what else half
              throw new IOException("injected fault")
          }
        finally inside.set(false)
      }
  }

  private final class WrittenOnClose(file: FSDataOutputStream, process: Process)
      extends ByteArrayOutputStream {
    private var open = true

    override def close(): Unit = if (open) {
      open = false
      process.operation(written(count), written(count / 2))
    }

    private def written(bytes: Int): Unit =
      try file.write(buf, 0, bytes)
      finally file.close()
  }
}
