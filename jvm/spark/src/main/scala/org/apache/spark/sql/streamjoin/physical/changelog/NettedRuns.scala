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
import org.apache.spark.sql.streamjoin.physical.exchange.RowsByBytes
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.{
  ChangeKind,
  Changed,
  ChangelogCounters,
  OutputDelta,
  RowIdentity
}

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
    arriving: Iterator[UnsafeRow],
    counters: ChangelogCounters
) {
  import NettedRuns._

  private val compared = RowOrdering.create(order, columns)
  private lazy val toldOf = UnsafeProjection.create(told, columns)
  private val kindAt = columns.indexWhere(_.exprId == kind.exprId)

  private val run = mutable.ArrayBuffer.empty[Image]

  private lazy val keyOf = Option.when(key.nonEmpty)(UnsafeProjection.create(key, columns))

  private val delta = new OutputDelta[Image](
    new RowIdentity[Image] {
      override def key(image: Image): Option[AnyRef] = keyOf.map(_(image.row).copy())
      override def sameKey(a: Image, b: Image): Boolean =
        run.length == 2 && keyOf.exists(of => of(a.row).copy() == of(b.row))
    },
    counters
  )

  private lazy val as: Map[ChangeKind, UnsafeProjection] = ChangeKind.all.map { k =>
    k -> UnsafeProjection.create(
      columns.map(a => if (a.exprId == kind.exprId) Literal(k.name) else a),
      columns
    )
  }.toMap

  /** The row as one of another kind; good until the next call. */
  def row(as: ChangeKind, image: Image): InternalRow =
    if (image.row.getUTF8String(kindAt) == words(as)) image.row else this.as(as)(image.row)

  /** What is left of all runs. */
  def rows: Iterator[InternalRow] = new Iterator[Iterator[InternalRow]] {
    override def hasNext: Boolean = NettedRuns.this.hasNext
    override def next(): Iterator[InternalRow] =
      NettedRuns.this.next().map(changed => row(changed.kind, changed.row))
  }.flatten

  private var ahead: UnsafeRow = _
  advance()

  private def advance(): Unit = ahead = if (arriving.hasNext) arriving.next().copy() else null

  def hasNext: Boolean = ahead != null

  /** What is left of the next run; to be read before the next call. */
  def next(): Iterator[Changed[Image]] = {
    val first = ahead
    advance()
    if (isBehind(first)) several(first)
    else {
      val kind = if (isAdded(first)) ChangeKind.Insert else ChangeKind.Delete
      Iterator.single(Changed(kind, new Image(null, first)))
    }
  }

  private def isBehind(first: UnsafeRow): Boolean =
    ahead != null && compared.compare(first, ahead) == 0

  private def several(first: UnsafeRow): Iterator[Changed[Image]] = {
    run.clear()
    run += new Image(toldOf(first).copy(), first)
    while (isBehind(first)) {
      run += new Image(toldOf(ahead).copy(), ahead)
      advance()
    }
    run.sortInPlace()(ByBytes)
    run.foreach(image => delta.emit(Some(image), isAdded(image.row)))
    delta.settle()
  }

  private def isAdded(row: UnsafeRow): Boolean = added(row.getUTF8String(kindAt))
}

private[changelog] object NettedRuns {

  /**
   * A row of the output as it came or went; the same as another where it is equal in what tells rows apart.
   *
   * @param told that; not needed of a row that is compared with none
   */
  final class Image(private val told: UnsafeRow, val row: UnsafeRow) {

    override def equals(other: Any): Boolean = other match {
      case o: Image => told == o.told
      case _        => false
    }

    override def hashCode: Int = told.hashCode
  }

  private val words: Map[ChangeKind, UTF8String] =
    ChangeKind.all.map(k => k -> UTF8String.fromString(k.name)).toMap

  private val added: Set[UTF8String] = words.collect { case (k, word) if k.added => word }.toSet

  /** The same order each time. */
  private val ByBytes: Ordering[Image] = (a, b) => RowsByBytes.compare(a.row, b.row)
}
