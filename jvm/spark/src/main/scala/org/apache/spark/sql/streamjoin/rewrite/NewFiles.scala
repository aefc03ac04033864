package org.apache.spark.sql.streamjoin.rewrite

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileUtil, Path}
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataWriter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.checkpoint.{
  HotKeyFiles,
  JoinDescription,
  LocalCheckpointFiles,
  StateSchemaFiles
}
import org.apache.spark.sql.streamjoin.spark.StreamingCheckpointConstants._
import org.apache.spark.sql.streamjoin.spark.CheckpointFileManager
import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import io.streamjoin.placement.HotKeys

/**
 * The files of a new checkpoint beside the rows, from those of an old one.
 *
 * {{{
 *   everything but the folders below       copied
 *   sources/SOURCE                         copied, under their new names
 *   state/OPERATOR/_metadata, _hotKeys     with the new partitions
 *   state/OPERATOR/_stateSchema            copied
 *   commits/N                              with the IDs of the new versions
 *   offsets/N, and N+1 or N-1              with the new number as spark.sql.shuffle.partitions
 * }}}
 *
 * No query starts on a folder that has the description of an operator and no offsets, or lacks the
 * offsets before the latest ones. So the descriptions are written first, and the offsets last: until
 * the last file appears, the checkpoint is refused.
 */
private[streamjoin] final class NewFiles(
    from: Path,
    to: Path,
    partitions: Int,
    hadoopConf: Configuration
) {
  private val source = from.getFileSystem(hadoopConf)
  private val target = to.getFileSystem(hadoopConf)
  private lazy val writer = CheckpointFileManager.create(to, hadoopConf)

  val state: Path = new Path(to, DIR_NAME_STATE)

  def isEmpty: Boolean = !target.exists(to) || target.listStatus(to).isEmpty

  /** Whether one of the two folders is the other, or inside it. */
  def overlap: Boolean = {
    val (one, other) = (from.toString, to.toString)
    one == other || one.startsWith(s"$other/") || other.startsWith(s"$one/")
  }

  /** The numbers of the entries in one of Spark's logs, ascending. */
  def batches(log: String): Seq[Long] = {
    val folder = new Path(from, log)
    if (!source.exists(folder)) Nil
    else source.listStatus(folder).toSeq.flatMap(_.getPath.getName.toLongOption).sorted
  }

  /**
   * Copies the ID of the query, the logs of sources, and whatever else it has.
   *
   * @param sources the old and the new name of each source whose log is copied
   */
  def copyOthers(sources: Seq[(String, String)]): Unit = {
    val apart = Set(DIR_NAME_STATE, DIR_NAME_COMMITS, DIR_NAME_OFFSETS, Sources)
    source.listStatus(from).map(_.getPath).filterNot(p => apart(p.getName)).foreach(copy(_, to))
    for ((before, now) <- sources) {
      val log = new Path(new Path(from, Sources), before)
      if (source.exists(log)) copy(log, new Path(new Path(to, Sources), now))
    }
  }

  /** The names of the logs of sources. */
  def sources: Seq[String] = {
    val folder = new Path(from, Sources)
    if (source.exists(folder)) source.listStatus(folder).toSeq.map(_.getPath.getName) else Nil
  }

  /** Writes what describes an operator, as of a batch. */
  def describe(join: StoredJoin, batch: Long, hot: Option[HotKeys]): Unit = {
    val folder = new Path(state, join.operator.toString)
    val schemas = StateSchemaFiles.folder(folder)
    target.mkdirs(schemas)
    val stores = join.metadata.stateStoreInfo.map { store =>
      val files = store.stateSchemaFilePaths.map { noted =>
        val old = StateSchemaFiles.folder(new Path(from, s"$DIR_NAME_STATE/${join.operator}"))
        copy(StateSchemaFiles.here(old, noted), schemas)
        StateSchemaFiles.here(schemas, noted).toString
      }
      store.copy(numPartitions = partitions, stateSchemaFilePaths = files)
    }
    OperatorStateMetadataWriter
      .createWriter(folder, hadoopConf, 2, Some(batch))
      .write(join.metadata.copy(
        stateStoreInfo = stores,
        operatorPropertiesJson =
          JoinDescription.stored(join.metadata.operatorPropertiesJson, partitions)
      ))
    hot.foreach(new HotKeyFiles(folder, hadoopConf).write(batch, _))
  }

  /** Writes the entry of a batch in the commit log, with the IDs of versions by operator. */
  def commit(batch: Long, ids: Map[Long, Seq[String]]): Unit =
    rewrite(DIR_NAME_COMMITS, batch) { json =>
      val stores = ids.toList.map { case (operator, of) =>
        operator.toString -> JArray(of.map(id => JArray(List(JString(id)))).toList)
      }
      if (ids.isEmpty) json else replaced(json, "stateUniqueIds", JObject(stores))
    }

  /**
   * Writes the entry of a batch in the offset log.
   *
   * @param sources the lines with the offsets of the sources, as they change
   */
  def offsets(batch: Long, sources: Seq[String] => Seq[String] = identity): Unit =
    rewrite(DIR_NAME_OFFSETS, batch, sources) { json =>
      val now = JObject(SQLConf.SHUFFLE_PARTITIONS.key -> JString(partitions.toString))
      replaced(json, "conf", (json \ "conf").merge(now: JValue))
    }

  /** The lines of an entry of a log. */
  def lines(log: String, batch: Long): Seq[String] =
    Using.resource(source.open(new Path(new Path(from, log), batch.toString))) { in =>
      new String(in.readAllBytes(), UTF_8)
    }.split("\n", -1).toSeq

  /** Writes an entry of a log with another second line, which is a JSON object. */
  private def rewrite(
      log: String,
      batch: Long,
      others: Seq[String] => Seq[String] = identity
  )(change: JValue => JValue): Unit = {
    val written = lines(log, batch)
    val folder = new Path(to, log)
    target.mkdirs(folder)
    val changed = Seq(written.head, compact(render(change(parse(written(1)))))) ++
      others(written.drop(2))
    LocalCheckpointFiles.write(writer, new Path(folder, batch.toString), replaces = false)(
      _.write(changed.mkString("\n").getBytes(UTF_8))
    )
  }

  private def replaced(json: JValue, name: String, value: JValue): JValue =
    json.removeField(_._1 == name).merge(JObject(name -> value): JValue)

  private val Sources = "sources"

  private def copy(file: Path, folder: Path): Unit = {
    FileUtil.copy(source, file, target, folder, false, hadoopConf): Unit
  }
}
