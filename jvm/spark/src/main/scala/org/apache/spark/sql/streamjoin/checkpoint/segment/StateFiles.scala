package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io._
import java.util.zip.{CRC32C, CheckedInputStream, CheckedOutputStream}

import org.apache.commons.io.output.CloseShieldOutputStream
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.streamjoin.checkpoint.{FormatNumber, LocalCheckpointFiles, OnFailure}
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.spark.FileManagers
import org.apache.spark.{SparkConf, SparkEnv}
import org.apache.spark.io.CompressionCodec

import io.streamjoin.state.segment.history.PackedInput

/**
 * Reads and writes the files of one partition's state.
 *
 * {{{
 *   magic, format, version, id, version before, its id ("" if none is needed), compression
 *   checksum of all that
 *   compressed:  content, checksum of the content
 * }}}
 */
private[segment] class StateFiles(
    folder: Path,
    hadoopConf: Configuration,
    compression: String
) {
  import StateFiles._

  private lazy val manager = LocalCheckpointFiles.manager(folder, hadoopConf)
  private lazy val sparkConf = Option(SparkEnv.get).fold(new SparkConf)(_.conf)

  def create(): Unit = manager.mkdirs(folder)

  def close(): Unit = FileManagers.close(manager)

  def exists(file: StateFile): Boolean = manager.exists(new Path(folder, file.name))

  def list(): Seq[StateFile] =
    manager.list(folder).toSeq.flatMap(s => StateFile.of(s.getPath.getName))

  /** Size of each file in bytes. */
  def sizes(): Map[StateFile, Long] =
    manager.list(folder).flatMap(s => StateFile.of(s.getPath.getName).map(_ -> s.getLen)).toMap

  /**
   * Writes a file.
   *
   * @param before the file from which it continues; none for a whole
   */
  def write(file: StateFile, before: Option[StateFile])(content: DataOutputStream => Unit): Unit =
    LocalCheckpointFiles.write(manager, new Path(folder, file.name), replaces = true) { raw =>
      val head = new DataOutputStream(raw)
      val said = new CheckedOutputStream(head, new CRC32C)
      val begin = new DataOutputStream(said)
      begin.writeInt(Magic)
      begin.writeInt(FormatNumber.Current)
      begin.writeLong(file.version)
      begin.writeUTF(file.id)
      begin.writeLong(file.from)
      begin.writeUTF(before.fold("")(_.id))
      begin.writeUTF(compression)
      begin.writeLong(said.getChecksum.getValue)
      val checked = new CheckedOutputStream(
        codec(compression).compressedOutputStream(CloseShieldOutputStream.wrap(head)),
        new CRC32C
      )
      val out = new DataOutputStream(new BufferedOutputStream(checked, BufferBytes))
      content(out)
      out.flush()
      out.writeLong(checked.getChecksum.getValue)
      out.close()
    }

  /** Opens a file and reads its header. */
  def open(file: StateFile): OpenFile = {
    val path = new Path(folder, file.name)
    reading(path) {
      val raw = manager.open(path)
      OnFailure(raw.close()) {
        val (before, codecName) = begin(file, path, raw)
        val in = new PackedInput(known(codecName).compressedInputStream(raw))
        new OpenFile(path, raw, in, before)
      }
    }
  }

  /** @param before the ID of the file of the version before */
  final class OpenFile(path: Path, raw: InputStream, in: PackedInput, val before: Option[String])
      extends AutoCloseable {

    /** Reads some of the content. */
    def read[T](part: PackedInput => T): T = reading(path)(part(in))

    /** Checks the content. Requires that all of it has been read. */
    def check(): Unit = reading(path) {
      val found = in.checksum()
      if (in.long() != found) throw new IOException("its checksum is wrong")
    }

    override def close(): Unit = raw.close()
  }

  private def reading[T](path: Path)(action: => T): T =
    try action
    catch {
      case e: FileNotFoundException => throw damaged(path, "it is missing", e)
      case e: EOFException          => throw damaged(path, "it ends too early", e)
      case e: IOException           => throw damaged(path, String.valueOf(e.getMessage), e)
    }

  /** Reads and checks the header: the ID of the previous file, and the name of the compression. */
  private def begin(file: StateFile, path: Path, raw: InputStream): (Option[String], String) = {
    val read = new CheckedInputStream(raw, new CRC32C)
    val head = new DataInputStream(read)
    if (head.readInt() != Magic) throw new IOException("it does not start with the header of a " +
      "state file")
    FormatNumber.check(path.toString, Format, Some(head.readInt().toLong))
    val (version, id, from) = (head.readLong(), head.readUTF(), head.readLong())
    val before = Some(head.readUTF()).filter(_.nonEmpty)
    val codecName = head.readUTF()
    val found = read.getChecksum.getValue
    if (head.readLong() != found) throw new IOException("the checksum of its header is wrong")
    if (StateFile(version, id, from) != file)
      throw new IOException(s"it is a copy of ${StateFile(version, id, from).name}")
    (before, codecName)
  }

  /** The codec of a name: one of Spark's own or the configured one. Any other name means damage. */
  private def known(name: String): CompressionCodec =
    if (name == compression || CompressionCodec.shortCompressionCodecNames.contains(name)) {
      codec(name)
    } else throw new IOException(s"its header names the unknown compression '$name'")

  /**
   * Deletes files of versions before this one, except those that later files need. Deletes
   * unfinished files of killed processes as well.
   *
   * @param newest newest file that the caller knows. If it no longer exists, nothing is deleted:
   *   the checkpoint was deleted and a new query has started in its place, which does not have
   *   these versions yet
   * @param needed selects the files to keep from all files
   */
  def deleteBefore(version: Long, newest: Option[StateFile])(
      needed: Seq[StateFile] => Set[StateFile]
  ): Unit = {
    val paths = manager.list(folder).toSeq.map(_.getPath)
    val listed = paths.flatMap(path => StateFile.of(path.getName))
    if (newest.forall(n => listed.exists(f => f.version == n.version && f.id == n.id))) {
      val butFor = needed(listed)
      for (path <- paths; name = path.getName)
        if (StateFile.versionOf(name).exists(_ < version) && !StateFile.of(name).exists(butFor))
          manager.delete(path)
    }
  }

  private def damaged(path: Path, reason: String, cause: Throwable) =
    StateErrors.damaged(path.toString, "a file of the state", reason, cause)

  private def codec(name: String): CompressionCodec =
    CompressionCodec.createCodec(sparkConf, name)

  override def toString: String = folder.toString
}

private[segment] object StateFiles {

  /** Name of the state format. */
  val Format: String = "segments"

  private val Magic = 0x534a5347 // SJSG
  private val BufferBytes = 1 << 16
}
