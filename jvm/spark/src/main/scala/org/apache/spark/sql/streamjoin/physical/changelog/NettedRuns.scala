package org.apache.spark.sql.streamjoin.physical.changelog

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Literal,
  RowOrdering,
  SortOrder,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.physical.stateful.RowsByBytes
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.{ChangeKind, Changed, ChangelogCounters, Effects, ToldApart}

/**
 * Changes of one batch that come in an order, run by run of what is equal in it, each run netted as a join nets the
 * changes of one join key. Which of them came first has no say: behind a shuffle they come in any order.
 *
 * @param order of the rows: what is equal in it is a run
 * @param key by which rows are told apart, of which two images are an update; empty: there is none
 * @param told the columns in which a row that goes must equal one that comes, to be the same
 * @param kind the column that says what became of a row
 */
private[changelog] final class NettedRuns(
    order: Seq[SortOrder],
    key: Seq[Attribute],
    told: Seq[Attribute],
    kind: Attribute,
    columns: Seq[Attribute],
    rows: Iterator[UnsafeRow],
    counters: ChangelogCounters
) {
  import NettedRuns._

  private val compared = RowOrdering.create(order, columns)
  private val toldOf = UnsafeProjection.create(told, columns)
  private val kindAt = columns.indexWhere(_.exprId == kind.exprId)

  private val run = mutable.ArrayBuffer.empty[Image]

  private val keyOf = Option.when(key.nonEmpty)(UnsafeProjection.create(key, columns))

  private val effects = new Effects[Image](
    new ToldApart[Image] {
      override def key(image: Image): Option[AnyRef] = keyOf.map(_(image.row).copy())
      override def sameKey(a: Image, b: Image): Boolean =
        run.length == 2 && keyOf.exists(of => of(a.row).copy() == of(b.row))
    },
    counters
  )

  private val as: Map[ChangeKind, UnsafeProjection] = ChangeKind.all.map { k =>
    k -> UnsafeProjection.create(
      columns.map(a => if (a.exprId == kind.exprId) Literal(k.name) else a),
      columns
    )
  }.toMap

  /** The row as one of another kind; good until the next call. */
  def row(as: ChangeKind, image: Image): InternalRow = this.as(as)(image.row)

  private var ahead: UnsafeRow = _
  advance()

  private def advance(): Unit = ahead = if (rows.hasNext) rows.next().copy() else null

  def hasNext: Boolean = ahead != null

  /** What is left of the next run; to be read before the next call. */
  def next(): Iterator[Changed[Image]] = {
    val first = ahead
    run.clear()
    while (ahead != null && compared.compare(first, ahead) == 0) {
      run += new Image(toldOf(ahead).copy(), ahead)
      advance()
    }
    if (run.length > 1) run.sortInPlace()(ByBytes)
    run.foreach(image => effects.give(Some(image), added(image.row.getUTF8String(kindAt))))
    effects.settle()
  }
}

private[changelog] object NettedRuns {

  /** A row of the output as it came or went; the same as another where it is equal in what tells rows apart. */
  final class Image(private val told: UnsafeRow, val row: UnsafeRow) {

    override def equals(other: Any): Boolean = other match {
      case o: Image => told == o.told
      case _        => false
    }

    override def hashCode: Int = told.hashCode
  }

  private val added: Set[UTF8String] =
    ChangeKind.all.filter(_.added).map(k => UTF8String.fromString(k.name)).toSet

  /** The same order each time. */
  private val ByBytes: Ordering[Image] = (a, b) => RowsByBytes.compare(a.row, b.row)
}
