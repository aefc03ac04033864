package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io._
import java.util.zip.{CRC32C, CheckedInputStream, CheckedOutputStream}

import org.apache.commons.io.output.CloseShieldOutputStream
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.streamjoin.checkpoint.FormatNumber
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.{SparkConf, SparkEnv}
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

/**
 * A file of a partition's state. Several may stand for one version, of tasks that ran twice.
 *
 * @param id tells them apart
 * @param whole whether it needs no file before it
 */
private[segment] final case class StateFile(version: Long, id: String, whole: Boolean) {
  def name: String = s"${version}_$id.${if (whole) "whole" else "change"}"

  def change: StateFile = copy(whole = false)
}

private[segment] object StateFile {
  private val Name = raw"(\d+)_([^.]+)\.(whole|change)".r
  private val Begin = raw"(\d+)_.*".r

  def of(name: String): Option[StateFile] = name match {
    case Name(version, id, kind) => Some(StateFile(version.toLong, id, kind == "whole"))
    case _                       => None
  }

  /** The version that a file is of, also one that is being written under another name. */
  def versionOf(name: String): Option[Long] = name.stripPrefix(".") match {
    case Begin(version) => Some(version.toLong)
    case _              => None
  }
}

/**
 * The files of one partition's state.
 *
 * {{{
 *   magic, format, version, id of the version before ("" if none is needed), name of the compression
 *   compressed:  content, checksum of the content
 * }}}
 */
private[segment] class StateFiles(
    folder: Path,
    hadoopConf: Configuration,
    compression: String
) {
  import StateFiles._

  private lazy val manager = CheckpointFileManager.create(folder, hadoopConf)
  private lazy val sparkConf = Option(SparkEnv.get).fold(new SparkConf)(_.conf)

  def create(): Unit = manager.mkdirs(folder)

  def close(): Unit = manager.close()

  /** All files, those written last at the end. */
  def list(): Seq[StateFile] =
    manager.list(folder).toSeq
      .sortBy(_.getModificationTime)
      .flatMap(status => StateFile.of(status.getPath.getName))

  /** How many bytes each file has. */
  def sizes(): Map[StateFile, Long] =
    manager.list(folder).flatMap(s => StateFile.of(s.getPath.getName).map(_ -> s.getLen)).toMap

  /** @return how many bytes were written */
  def write(file: StateFile, before: Option[StateFile])(content: DataOutputStream => Unit): Long = {
    val raw = manager.createAtomic(new Path(folder, file.name), overwriteIfPossible = true)
    try {
      val head = new DataOutputStream(raw)
      head.writeInt(Magic)
      head.writeInt(Number.current)
      head.writeLong(file.version)
      head.writeUTF(before.fold("")(_.id))
      head.writeUTF(compression)
      val checked = new CheckedOutputStream(
        codec(compression).compressedOutputStream(CloseShieldOutputStream.wrap(head)),
        new CRC32C
      )
      val out = new DataOutputStream(new BufferedOutputStream(checked, BufferBytes))
      content(out)
      out.flush()
      out.writeLong(checked.getChecksum.getValue)
      out.close()
      val bytes = raw.getPos
      raw.close()
      bytes
    } catch {
      case e: Throwable =>
        raw.cancel()
        throw e
    }
  }

  /**
   * Reads a file.
   *
   * @param content must read all of it
   * @return what it gives, and the id of the file of the version before
   */
  def read[T](file: StateFile)(content: DataInputStream => T): (T, Option[String]) = {
    val path = new Path(folder, file.name)
    try {
      val raw = manager.open(path)
      try {
        val head = new DataInputStream(raw)
        if (head.readInt() != Magic) throw new IOException("it does not begin as a state does")
        Number.check(path.toString, Some(head.readInt().toLong))
        if (head.readLong() != file.version) throw new IOException("it is of another version")
        val before = Some(head.readUTF()).filter(_.nonEmpty)
        val checked = new CheckedInputStream(
          new BufferedInputStream(codec(head.readUTF()).compressedInputStream(head), BufferBytes),
          new CRC32C
        )
        val in = new DataInputStream(checked)
        val result = content(in)
        val found = checked.getChecksum.getValue
        if (in.readLong() != found) throw new IOException("its checksum is wrong")
        (result, before)
      } finally raw.close()
    } catch {
      case e: FileNotFoundException => throw damaged(path, "it is missing", e)
      case e: IOException           => throw damaged(path, String.valueOf(e.getMessage), e)
    }
  }

  /** Deletes the files of all earlier versions, with those that a killed process did not finish. */
  def deleteBefore(version: Long): Unit =
    manager.list(folder).map(_.getPath).foreach { path =>
      if (StateFile.versionOf(path.getName).exists(_ < version)) manager.delete(path)
    }

  private def damaged(path: Path, reason: String, cause: Throwable) =
    StreamJoinErrors.incompatibleCheckpoint(
      path.toString,
      "a file of the state cannot be read",
      reason,
      "the file as it was written",
      cause
    )

  private def codec(name: String): CompressionCodec =
    CompressionCodec.createCodec(sparkConf, name)

  override def toString: String = folder.toString
}

private[segment] object StateFiles {

  val Number: FormatNumber = FormatNumber("segments", 1)

  private val Magic = 0x534a5347 // SJSG
  private val BufferBytes = 1 << 16
}
