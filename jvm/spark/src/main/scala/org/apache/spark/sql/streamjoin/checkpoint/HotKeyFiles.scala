package org.apache.spark.sql.streamjoin.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}
import org.json4s._
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import io.streamjoin.placement.{HotKey, HotKeys, ReachBuckets}

/**
 * Files with the hot keys of a join, beside its state. A hot key is one whose rows are spread over
 * the partitions.
 *
 * There is one file per batch in which more keys become hot. It is written before the first task of
 * that batch, so that a retried batch places its rows in the same partitions.
 *
 * {{{
 *   state/<operator>/_hotKeys/17    keys found in batch 16, spread from batch 17 on
 *   state/<operator>/_hotKeys/420
 * }}}
 *
 * The placement of buffered rows depends on these files. A key stays hot once it is stored.
 *
 * @param operator folder of the join's state
 */
private[streamjoin] final class HotKeyFiles(operator: Path, hadoopConf: Configuration) {
  import HotKeyFiles._

  private val folder = new Path(operator, Folder)
  private val manager = LocalCheckpointFiles.manager(folder, hadoopConf)

  /** The keys that are spread in a batch, if any. */
  def read(batch: Long): Option[HotKeys] = {
    val parts = batches.filter(_ <= batch).map(foundIn)
    parts.reduceOption((before, more) => before ++ more.keys)
  }

  /** Stores keys that are spread from a batch on. */
  def write(batch: Long, more: HotKeys): Unit = {
    manager.mkdirs(folder)
    LocalCheckpointFiles.write(manager, file(batch), replaces = true)(
      _.write(json(more).getBytes(UTF_8))
    )
  }

  /**
   * Removes the files of later batches. A query leaves them behind if its checkpoint is reset to an
   * earlier batch.
   */
  def removeAfter(batch: Long): Unit =
    batches.filter(_ > batch).foreach(b => manager.delete(file(b)))

  private def batches: Seq[Long] =
    if (!manager.exists(folder)) Nil
    else manager.list(folder).toSeq.flatMap(_.getPath.getName.toLongOption).sorted

  private def file(batch: Long) = new Path(folder, batch.toString)

  private def foundIn(batch: Long): HotKeys = {
    val text =
      Using.resource(manager.open(file(batch)))(in => new String(in.readAllBytes(), UTF_8))
    try of(text)
    catch {
      case e: StreamJoinRuntimeException => throw e
      case NonFatal(e) =>
        throw StateErrors.incompatibleCheckpoint(
          operator.toString,
          s"$Folder/$batch cannot be read",
          text.take(200),
          "the unchanged file",
          e
        )
    }
  }

  private def of(text: String): HotKeys = {
    val all = parse(text)
    Number.check(operator.toString, Some(all \ "version").collect { case JInt(v) => v.toLong })
    HotKeys(
      StoredBuckets.read(all \ "buckets"),
      (all \ "keys").children.map { key =>
        def number(part: String) = (key \ part).asInstanceOf[JInt].num.longValue
        val wider = if (key \ "wider" == JNothing) 1 else number("wider").toInt
        HotKey(number("hash"), number("partition").toInt, number("from"), wider)
      }
    )
  }
}

private[streamjoin] object HotKeyFiles {

  /** Subfolder of the join's state. */
  val Folder: String = "_hotKeys"

  /** Version of these files. The version of the state format does not cover them. */
  private val Number = FormatNumber("of hot keys", 2, alsoRead = Set(1))

  private def json(keys: HotKeys): String = compact(render(
    ("version" -> Number.current) ~
      ("buckets" -> StoredBuckets.json(keys.buckets)) ~
      ("keys" -> keys.keys.map { key =>
        ("hash" -> key.hash) ~ ("partition" -> key.partition) ~ ("from" -> key.from) ~
          ("wider" -> key.wider)
      })
  ))
}

/** JSON form of time buckets. */
private[checkpoint] object StoredBuckets {

  def json(b: ReachBuckets): JObject =
    ("shift" -> b.shift) ~ ("reach" -> b.reach) ~ ("width" -> b.width)

  def read(json: JValue): ReachBuckets = {
    def number(part: String) = (json \ part).asInstanceOf[JInt].num.longValue
    ReachBuckets(number("shift"), number("reach"), number("width"))
  }
}
