package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.LocalCheckpointFiles

/** Files on the local disk. Before each step, others can act. */
final class SteppedFiles(path: Path, hadoopConf: Configuration)
    extends LocalCheckpointFiles(path, hadoopConf) {
  import SteppedFiles._

  private def before(step: Step): Unit = others.get(hadoopConf.get(Key))(step)

  override def list(folder: Path, filter: PathFilter): Array[FileStatus] = {
    before(Lists)
    super.list(folder, filter)
  }

  override def open(file: Path): FSDataInputStream = {
    before(Opens(file.getName))
    super.open(file)
  }

  override def delete(file: Path): Unit = {
    before(Deletes(file.getName))
    super.delete(file)
  }

  override def createAtomic(file: Path, overwriteIfPossible: Boolean)
      : CancellableFSDataOutputStream = {
    val unfinished = super.createAtomic(file, overwriteIfPossible)
    new CancellableFSDataOutputStream(unfinished) {
      override def close(): Unit = {
        before(Writes(file.getName))
        unfinished.close()
      }
      override def cancel(): Unit = unfinished.cancel()
    }
  }
}

object SteppedFiles {

  sealed trait Step
  case object Lists extends Step
  final case class Opens(name: String) extends Step
  final case class Deletes(name: String) extends Step

  /** The file is about to appear under its name. */
  final case class Writes(name: String) extends Step

  private val Key = "streamjoin.test.steps"
  private val others = new ConcurrentHashMap[String, Step => Unit]

  /** Settings of a provider that runs `act` before each step, except for steps within `act`. */
  def settings(act: Step => Unit): Configuration = {
    val conf = new Configuration
    val key = java.util.UUID.randomUUID.toString
    var acting = false
    others.put(
      key,
      step =>
        if (!acting) {
          acting = true
          try act(step)
          finally acting = false
        }
    )
    conf.set(Key, key)
    conf.set(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      classOf[SteppedFiles].getName
    )
    conf
  }
}
