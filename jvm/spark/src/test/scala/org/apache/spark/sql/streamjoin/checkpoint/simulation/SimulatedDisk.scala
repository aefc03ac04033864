package org.apache.spark.sql.streamjoin.checkpoint.simulation

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, FileNotFoundException, IOException}
import java.net.URI
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable
import org.apache.spark.sql.internal.SQLConf

/**
 * The files of one history, in memory.
 *
 * It promises what a checkpoint needs: a rename is atomic, and a list shows each file that exists.
 * It does not promise more: the rest of a file that was not closed is lost, and all files have the
 * same modification time. A mutation breaks a promise.
 */
private[simulation] final class SimulatedDisk(mutation: Mutation) {
  import SimulatedDisk._

  private val files = mutable.LinkedHashMap.empty[String, File]
  private val folders = mutable.Set.empty[String]
  private var operations = 0L
  private val ids = mutable.HashMap.empty[String, String]

  /** What happened to the files, in words. */
  var told: String => Unit = _ => ()

  def begin(): Unit = operations += 1

  /** A name in which each random ID is a letter. */
  def shown(path: String): String =
    Id.replaceAllIn(
      path.substring(path.lastIndexOf('/') + 1),
      found => ids.getOrElseUpdate(found.matched, name(ids.size))
    )

  private def name(n: Int): String =
    if (n < 26) ('a' + n).toChar.toString else name(n / 26 - 1) + name(n % 26)

  def mkdirs(path: String): Unit = {
    folders += path
    ()
  }

  def create(path: String): Unit = files(path) = File(Array.emptyByteArray, operations)

  /** The writer closes the file: its bytes are safe from now on. */
  def close(path: String, bytes: Array[Byte]): Unit = if (files.contains(path)) {
    told(s"writes ${shown(path)}, ${bytes.length} bytes")
    files(path) = File(bytes, operations)
  }

  def rename(from: String, to: String): Boolean = files.remove(from).exists { file =>
    told(s"renames it to ${shown(to)}")
    files.remove(to)
    files(to) = file.copy(written = operations)
    true
  }

  def delete(path: String): Boolean = {
    if (mutation == Mutation.DeletesFail && !path.endsWith(".tmp"))
      throw new IOException(s"$path cannot be deleted")
    val found = files.remove(path).nonEmpty
    if (found) told(s"deletes ${shown(path)}")
    if (found && mutation == Mutation.DeletesOneMore && path.endsWith(".change"))
      files.keys.find(_.endsWith(".change")).foreach { other =>
        told(s"deletes ${shown(other)}, too")
        files.remove(other)
      }
    found || folders.remove(path)
  }

  def read(path: String): Array[Byte] =
    files.getOrElse(path, throw new FileNotFoundException(s"$path does not exist")).bytes

  /** Whether it is a folder, and its length. */
  def status(path: String): Option[(Boolean, Long)] =
    files.get(path).map(file => (false, file.bytes.length.toLong))
      .orElse(Option.when(isFolder(path))((true, 0L)))

  private def isFolder(path: String): Boolean =
    folders.exists(folder => folder == path || folder.startsWith(path + "/")) ||
      files.keysIterator.exists(_.startsWith(path + "/"))

  def list(folder: String): Seq[String] = {
    val found = files.keysIterator
      .filter(path => path.lastIndexOf('/') == folder.length && path.startsWith(folder))
      .toVector
    if (mutation == Mutation.ListsLate) found.filter(files(_).written + 6 < operations) else found
  }

  /** The process has been killed: of files that it had not closed, nothing or a part is left. */
  def lose(unfinished: Iterable[(String, Array[Byte])]): Unit =
    for ((path, bytes) <- unfinished if files.contains(path)) {
      files(path) = File(bytes.take(bytes.length / 2), operations)
      if (mutation == Mutation.RenamesUnfinished) UnfinishedName.findFirstMatchIn(path).foreach {
        found =>
          val whole = found.group(1) + found.group(2)
          told(s"renames the unfinished file to ${shown(whole)}")
          files.remove(path)
          files(whole) = File(bytes.take(bytes.length / 2), operations)
      }
    }
}

private[simulation] object SimulatedDisk {

  /** @param written the number of the operation that wrote it */
  final case class File(bytes: Array[Byte], written: Long)

  private val Id = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}".r

  /** The temporary name that Spark gives a file until it is complete. */
  private val UnfinishedName = raw"(.*/)\.([^/]+)\.[0-9a-f-]{36}\.tmp".r
}

/** A process that uses a disk. Once it is killed, nothing that it does has an effect. */
private[simulation] final class SimulatedProcess(val disk: SimulatedDisk) {
  private val unfinished = mutable.Map.empty[String, ByteArrayOutputStream]
  @volatile var killed: Boolean = false

  /** The folder of a checkpoint, as this process names it. */
  val root: String = SimulatedProcess.register(this)

  def kill(): Unit = {
    killed = true
    disk.synchronized(disk.lose(unfinished.map { case (path, bytes) => path -> bytes.toByteArray }))
  }

  def forget(): Unit = SimulatedProcess.forget(this)

  /**
   * Performs an operation on the files, between whose steps others may act. Spark writes a file and
   * its checksum in two threads of its own.
   */
  def operation[T](what: => T): T = {
    if (killed) throw Actor.Killed
    val fault = Option(Actor.current.get).fold[Actor.Then](Actor.Pause)(_.operation())
    if (fault == Actor.FailBefore) throw new IOException("the disk does not answer")
    val result = disk.synchronized {
      disk.begin()
      what
    }
    if (fault == Actor.FailAfter) throw new IOException("the answer of the disk is lost")
    result
  }

  def newFile(path: String): ByteArrayOutputStream = {
    val bytes = new ByteArrayOutputStream {
      private var open = true
      override def close(): Unit = if (open) {
        open = false
        operation {
          unfinished.remove(path)
          disk.close(path, toByteArray)
        }
      }
    }
    operation {
      disk.create(path)
      unfinished(path) = bytes
    }
    bytes
  }
}

private[simulation] object SimulatedProcess {
  private val processes = new ConcurrentHashMap[String, SimulatedProcess]
  private val number = new AtomicLong

  private def register(process: SimulatedProcess): String = {
    val authority = s"p${number.incrementAndGet()}"
    processes.put(authority, process)
    s"${SimulatedFiles.Scheme}://$authority/checkpoint/state"
  }

  private def forget(process: SimulatedProcess): Unit = {
    processes.remove(new URI(process.root).getAuthority)
    ()
  }

  def of(uri: URI): SimulatedProcess = processes.get(uri.getAuthority)
}

/** Hadoop's view of a [[SimulatedDisk]]. The authority of a path names the process that asks. */
final class SimulatedFiles extends FileSystem {
  private var uri: URI = _
  private var process: SimulatedProcess = _

  override def initialize(name: URI, conf: Configuration): Unit = {
    setConf(conf)
    uri = URI.create(s"${name.getScheme}://${name.getAuthority}")
    process = SimulatedProcess.of(name)
  }

  private def disk = process.disk
  private def of(path: Path): String = path.toUri.getPath

  override def getScheme: String = SimulatedFiles.Scheme
  override def getUri: URI = uri
  override def getWorkingDirectory: Path = new Path(uri.toString + "/")
  override def setWorkingDirectory(path: Path): Unit = ()

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    process.operation(new FSDataInputStream(new SimulatedFiles.In(disk.read(of(path)))))

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = new FSDataOutputStream(process.newFile(of(path)), null)

  override def append(path: Path, size: Int, progress: Progressable): FSDataOutputStream =
    throw new UnsupportedOperationException

  override def rename(from: Path, to: Path): Boolean =
    process.operation(disk.rename(of(from), of(to)))

  override def delete(path: Path, recursive: Boolean): Boolean =
    process.operation(disk.delete(of(path)))

  override def listStatus(path: Path): Array[FileStatus] =
    process.operation(disk.list(of(path)).map(name =>
      status(new Path(uri.toString + name)).get
    ).toArray)

  override def mkdirs(path: Path, permission: FsPermission): Boolean = {
    process.operation(disk.mkdirs(of(path)))
    true
  }

  override def getFileStatus(path: Path): FileStatus =
    process.operation(status(path)).getOrElse(throw new FileNotFoundException(s"$path"))

  private def status(path: Path): Option[FileStatus] = disk.status(of(path)).map {
    case (folder, length) => new FileStatus(length, folder, 1, 1 << 20, 0, path)
  }
}

object SimulatedFiles {
  val Scheme = "simulated"

  /** Settings of a provider on a simulated disk. */
  val conf: Configuration = {
    val conf = new Configuration
    conf.set(s"fs.$Scheme.impl", classOf[SimulatedFiles].getName)
    conf.setBoolean(s"fs.$Scheme.impl.disable.cache", true)
    conf.set(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    )
    conf
  }

  private final class In(bytes: Array[Byte])
      extends ByteArrayInputStream(bytes)
      with Seekable
      with PositionedReadable {
    override def seek(to: Long): Unit = pos = to.toInt
    override def getPos: Long = pos.toLong
    override def seekToNewSource(to: Long): Boolean = false

    override def read(at: Long, into: Array[Byte], offset: Int, length: Int): Int = {
      val count = math.min(length.toLong, bytes.length - at).toInt
      if (count <= 0) -1
      else {
        System.arraycopy(bytes, at.toInt, into, offset, count)
        count
      }
    }

    override def readFully(at: Long, into: Array[Byte], offset: Int, length: Int): Unit = {
      if (read(at, into, offset, length) < length) throw new java.io.EOFException
    }

    override def readFully(at: Long, into: Array[Byte]): Unit =
      readFully(at, into, 0, into.length)
  }
}

/** A promise that is broken on purpose. */
private[simulation] sealed trait Mutation

private[simulation] object Mutation {
  case object Nothing extends Mutation

  /** A rename of a killed process takes effect, although its file is not complete. */
  case object RenamesUnfinished extends Mutation

  /** A delete removes another change file, too. */
  case object DeletesOneMore extends Mutation

  /** No complete file can be deleted, so that maintenance fails. */
  case object DeletesFail extends Mutation

  /** A list does not show what was written just before. */
  case object ListsLate extends Mutation

  /** Maintenance retains fewer versions than the query needs. */
  case object RetainsTooFew extends Mutation

  /** The query commits a batch before all its tasks have ended. */
  case object CommitsEarly extends Mutation

  /** A restart plans a batch anew whose offsets are written. */
  case object PlansAgain extends Mutation

  /** The sink appends a batch that it has already. */
  case object SinkAppends extends Mutation

  val all: Seq[Mutation] =
    Seq(
      RenamesUnfinished,
      DeletesOneMore,
      DeletesFail,
      ListsLate,
      RetainsTooFew,
      CommitsEarly,
      PlansAgain,
      SinkAppends
    )
}
