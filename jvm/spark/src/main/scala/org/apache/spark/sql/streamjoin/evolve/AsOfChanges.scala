package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast}
import org.apache.spark.sql.streamjoin.checkpoint.DescribedKind.AsOf
import org.apache.spark.sql.streamjoin.checkpoint.{DescribedKind, JoinDescription}
import org.apache.spark.sql.types.{DataType, NumericType, StructField}

import io.streamjoin.model.{BySide, Side}

/**
 * The changes of an as-of join that its stored rows allow: other columns, also of a wider type. The
 * last rows of each key are stored, so the key stays.
 */
private[evolve] object AsOfChanges {

  /** @param renamed a text of the stored join with the new names of columns */
  def areKnown(
      before: JoinDescription,
      now: JoinDescription,
      sides: BySide[Seq[ColumnChange]],
      renamed: String => String
  ): Boolean = {
    val changes = Side.both.flatMap(sides(_))
    val was = changes.flatMap(_.before).map { case f: StructField => renamed(f.name) -> f.dataType }
    val is = changes.flatMap(_.now).map((c: Attribute) => c.name -> c.dataType)
    named(before.kind, renamed) == now.kind &&
    before.keys.map(k => plain(renamed(k), was)) == now.keys.map(plain(_, is))
  }

  /** The kind with the new name of the sequence of its versions. */
  private def named(kind: DescribedKind, renamed: String => String): DescribedKind = kind match {
    case AsOf(Sequence(start, name, end)) => AsOf(start + renamed(name) + end)
    case other                            => other
  }

  private val Sequence = s"(?s)(.*?${DescribedKind.LastBy})(.*)(${DescribedKind.UpTo}.*)".r

  /** A key without its type and without the casts to it that keep each value. */
  private def plain(key: String, columns: Seq[(String, DataType)]): String = {
    val (equality, dataType) = key.splitAt(key.lastIndexOf(": "))
    val to = DataType.fromDDL(dataType.stripPrefix(": "))
    columns.groupMap(_._1)(_._2).foldLeft(equality) { case (text, (name, types)) =>
      val keep = types.forall { t =>
        t == to || (t.isInstanceOf[NumericType] && Cast.canUpCast(t, to))
      }
      if (keep) text.replace(s"CAST($name AS ${to.sql})", name) else text
    }
  }
}
