package org.apache.spark.sql.streamjoin.physical.stateful.times

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Cast, Hex}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.util.AccumulatorV2

import io.streamjoin.model.Watermarks

/**
 * Accumulator of the largest event time of each group of rows in a batch.
 *
 * @param limit the largest number of groups of a task. The groups of all tasks are counted by the
 *   tasks that use them: an error here, in the driver, would only be logged
 */
private[physical] final class GroupMaxima(column: String, limit: Int)
    extends AccumulatorV2[(String, Long), Map[String, Long]] {
  import GroupMaxima._

  /** Replaced for a new group, so that a report of a running task can read it. */
  @volatile private var groups = Map.empty[String, Latest]

  /** The time of a group, which a task updates with each row. */
  def of(group: String): Latest = {
    val found = known(group)
    if (groups.size > limit) throw tooMany(column, groups.size, limit)
    found
  }

  private def known(group: String): Latest = groups.getOrElse(
    group, {
      val added = new Latest
      groups += group -> added
      added
    }
  )

  override def isZero: Boolean = groups.isEmpty
  override def copy(): GroupMaxima = {
    val c = new GroupMaxima(column, limit)
    c.merge(this)
    c
  }
  override def reset(): Unit = groups = Map.empty
  override def add(time: (String, Long)): Unit = known(time._1).note(time._2)
  override def merge(other: AccumulatorV2[(String, Long), Map[String, Long]]): Unit =
    other.value.foreach(add)
  override def value: Map[String, Long] = groups.map { case (name, latest) => name -> latest.time }
}

private[physical] object GroupMaxima {

  final class Latest extends Serializable {
    private[GroupMaxima] var time: Long = Watermarks.Unknown
    def note(time: Long): Unit = if (time > this.time) this.time = time
  }

  def tooMany(column: String, groups: Int, limit: Int): Throwable = StreamJoinErrors.runtime(
    "TOO_MANY_WATERMARK_GROUPS",
    "column" -> column,
    "groups" -> groups.toString,
    "limit" -> limit.toString
  )
}

/**
 * The name of a group of rows: its values as text, such as `orders, 7`. A text that is not valid
 * UTF-8 is in hexadecimal. Names of different groups differ. They do not depend on the session time
 * zone, because the state contains them.
 *
 * @param types the types of the values
 */
private[physical] final class GroupName(types: Seq[DataType])
    extends (InternalRow => String)
    with Serializable {

  @transient private lazy val texts = types.zipWithIndex.map { case (of, i) =>
    Cast(BoundReference(i, of, nullable = true), StringType, Some("UTC"))
  }

  override def apply(values: InternalRow): String =
    GroupName.named(texts.map(_.eval(values)).map {
      case null                                => GroupName.Null
      case text: UTF8String if !text.isValid() => s"X'${Hex.hex(text.getBytes)}'"
      case text                                => GroupName.quoted(text.toString)
    })
}

private[physical] object GroupName {

  /** A longer name is cut, and ends with its checksum. */
  private val Longest = 160

  private val Null = "NULL"

  /** @param values the text of each value, or none for NULL */
  def of(values: Seq[Option[String]]): String = named(values.map(_.fold(Null)(quoted)))

  private def named(values: Seq[String]): String = {
    val name = values.mkString(", ")
    if (name.length <= Longest) name
    else {
      val sum = MessageDigest.getInstance("SHA-256").digest(name.getBytes(UTF_8))
      val begin = name.take(name.offsetByCodePoints(0, Longest / 2))
      s"$begin ${sum.map("%02x".format(_)).mkString}"
    }
  }

  private def quoted(text: String): String =
    if (text.isEmpty || text == Null || text.exists(c => c == ',' || c == '\''))
      s"'${text.replace("'", "''")}'"
    else text
}
