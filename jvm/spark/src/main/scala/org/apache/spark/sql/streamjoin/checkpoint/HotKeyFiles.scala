package org.apache.spark.sql.streamjoin.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.streamjoin.errors.StateErrors
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
 *
 *   checksum of the second line
 *   {"version": 1, "buckets": ..., "keys": ...}
 * }}}
 *
 * The placement of buffered rows depends on these files. A key stays hot once it is stored. So each
 * partition stores the checksum of the keys of its batch beside its rows, see [[HotKeySums]]: a lost
 * file is no smaller set of keys, but an error.
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
    LocalCheckpointFiles.write(manager, file(batch), replaces = true) { out =>
      val text = json(more)
      out.write(s"${Checksum.of(text)}\n$text".getBytes(UTF_8))
    }
  }

  /**
   * Removes the files of later batches. A query leaves them behind if its checkpoint is reset to an
   * earlier batch.
   */
  def removeAfter(batch: Long): Unit =
    batches.filter(_ > batch).foreach(b => manager.delete(file(b)))

  private def batches: Seq[Long] = LocalCheckpointFiles.numbers(manager, folder)

  private def file(batch: Long) = new Path(folder, batch.toString)

  private def foundIn(batch: Long): HotKeys = {
    val path = file(batch)
    val written = Using.resource(manager.open(path))(in => new String(in.readAllBytes(), UTF_8))
    written.split("\n", -1) match {
      case Array(sum, text) if sum == Checksum.of(text).toString => of(text, path)
      case _ =>
        throw StateErrors.damaged(path.toString, "a file of hot keys", "its checksum is wrong")
    }
  }
}

private[streamjoin] object HotKeyFiles {

  /** Subfolder of the join's state. */
  val Folder: String = "_hotKeys"

  private[checkpoint] def json(keys: HotKeys): String = compact(render(
    ("version" -> FormatNumber.Current) ~
      ("buckets" -> StoredBuckets.json(keys.buckets)) ~
      ("keys" -> keys.keys.map { key =>
        ("hash" -> key.hash) ~ ("partition" -> key.partition) ~ ("from" -> key.from) ~
          ("wider" -> key.wider)
      })
  ))

  private def of(text: String, path: Path): HotKeys = {
    val all = parse(text)
    FormatNumber.check(
      path.toString,
      "of hot keys",
      Some(all \ "version").collect { case JInt(v) => v.toLong }
    )
    HotKeys(
      StoredBuckets.read(all \ "buckets"),
      (all \ "keys").children.map { key =>
        def number(part: String) = (key \ part).asInstanceOf[JInt].num.longValue
        HotKey(number("hash"), number("partition").toInt, number("from"), number("wider").toInt)
      }
    )
  }
}

/**
 * Checksums of the hot keys of two batches, of which one has stored the rows that the other reads.
 * There is none without hot keys.
 */
private[streamjoin] final case class HotKeySums(before: Option[Long], now: Option[Long]) {
  import HotKeySums._

  /** Refuses rows that are not placed by the hot keys of the batch before. */
  def check(location: String, stored: Option[Long]): Unit =
    if (stored != before) {
      def said(sum: Option[Long]) = sum.fold("no hot keys")(s => s"hot keys with the checksum $s")
      throw StateErrors.incompatibleCheckpoint(
        location,
        s"its rows are not placed by the files in ${HotKeyFiles.Folder}, of which some are lost or " +
          "from another checkpoint",
        said(before),
        said(stored)
      )
    }

  /** The checksum to store, if it has changed. */
  private[checkpoint] def changed: Option[Long] = now.filter(_ => now != before)

  def save(numbers: StoredNumbers): Unit = changed.foreach(numbers.put(Name, _))
}

private[streamjoin] object HotKeySums {

  val NoKeys: HotKeySums = HotKeySums(None, None)

  /** Name of the number beside the rows. */
  val Name: String = "hotKeys"

  def of(keys: Option[HotKeys]): Option[Long] =
    keys.filter(_.size > 0).map(k => Checksum.of(HotKeyFiles.json(k)))
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
