package org.apache.spark.sql.streamjoin.physical.consolidate

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Attribute,
  Literal,
  RowOrdering,
  SortOrder,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.physical.exchange.{HashRuns, RowHash, RowsByBytes}
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.Counters
import io.streamjoin.join.changelog.{ChangeKind, Changed, OutputDelta, RowIdentity}

/**
 * Algorithm of [[ConsolidateExec]] in one partition. The rows are sorted by a hash. The rows of one
 * hash are a run, which is consolidated as a join consolidates the changes of one join key. The
 * order within a run has no effect, since rows leave an exchange in any order.
 *
 * @param columns the columns of the rows
 */
private[consolidate] final class ConsolidatedRuns(
    by: Consolidate,
    columns: Seq[Attribute],
    rows: Iterator[InternalRow],
    counters: Counters
) {
  import ConsolidatedRuns._

  private val kindAt = columns.indexWhere(_.exprId == by.kind.exprId)

  // ---- images ----

  private lazy val identityOf = UnsafeProjection.create(by.identity, columns)

  private val made = mutable.Map.empty[ChangeKind, UnsafeProjection]

  /** The projection that sets the row kind. */
  private def marking(kind: ChangeKind): UnsafeProjection = made.getOrElseUpdate(
    kind,
    UnsafeProjection.create(
      columns.map(a => if (a.exprId == by.kind.exprId) Literal(kind.name) else a),
      columns
    )
  )

  /**
   * An input row. Two images are equal, and cancel, if their columns of the identity are equal.
   */
  private final class Image(val row: UnsafeRow) {
    private lazy val identity = identityOf(row).copy()

    val isAdded: Boolean = added(row.getUTF8String(kindAt))

    def as(kind: ChangeKind): InternalRow =
      if (row.getUTF8String(kindAt) == words(kind)) row else marking(kind)(row)

    override def equals(other: Any): Boolean = other match {
      case o: ConsolidatedRuns#Image => by.certain && identity == o.identity
      case _                         => false
    }

    override def hashCode: Int = identity.hashCode
  }

  // ---- runs ----

  private val input = new HashRuns(
    rows, {
      val hash = new RowHash(by.together, columns)
      hash(_)
    }
  )

  private lazy val keyOf = Option.when(by.key.nonEmpty)(UnsafeProjection.create(by.key, columns))

  private val run = mutable.ArrayBuffer.empty[Image]

  private val delta = new OutputDelta[Image](
    new RowIdentity[Image] {
      override def key(image: Image): Option[AnyRef] = keyOf.map(_(image.row).copy())
      override def sameKey(a: Image, b: Image): Boolean = keyOf.exists { of =>
        run.length == 2 && of(a.row).copy() == of(b.row)
      }
    },
    counters
  )

  /** The remaining changes. The next row may overwrite the previous one. */
  def output: Iterator[InternalRow] = new Iterator[Iterator[InternalRow]] {
    override def hasNext: Boolean = input.nonEmpty
    override def next(): Iterator[InternalRow] = nextRun().map(c => c.row.as(c.kind))
  }.flatten

  private def nextRun(): Iterator[Changed[Image]] = {
    run.clear()
    input.read(input.hash)(row => run += new Image(row.copy()))
    if (run.length > 1) run.sortInPlace()(byBytes)
    run.foreach(image => delta.emit(Some(image), image.isAdded))
    by.keep match {
      case Consolidate.All    => delta.settle()
      case Consolidate.Latest => latest(delta.settle().toSeq)
    }
  }

  /** An order that does not depend on the order of arrival. */
  private val byBytes: Ordering[Image] = RowsByBytes.on(_.row)

  private lazy val byKey = RowOrdering.create(by.key.map(SortOrder(_, Ascending)), columns)

  /**
   * One change of each key. Several rows may have a NULL key: a batch that runs again keeps the
   * same one.
   */
  private def latest(changes: Seq[Changed[Image]]): Iterator[Changed[Image]] = {
    def first(of: Changed[Image]) =
      changes.indexWhere(c => byKey.compare(c.row.row, of.row.row) == 0)
    changes.groupBy(first).toSeq.sortBy(_._1).iterator.map { case (_, ofKey) => latestOfKey(ofKey) }
  }

  private def latestOfKey(changes: Seq[Changed[Image]]): Changed[Image] = {
    val (inserted, deleted) = changes.partition(_.kind.added)
    inserted.lastOption.fold(Changed(ChangeKind.Delete, deleted.last.row)) { last =>
      Changed(if (deleted.isEmpty) ChangeKind.Insert else ChangeKind.Postimage, last.row)
    }
  }
}

private[consolidate] object ConsolidatedRuns {

  private val words: Map[ChangeKind, UTF8String] =
    ChangeKind.all.map(k => k -> UTF8String.fromString(k.name)).toMap

  private val added: Set[UTF8String] = words.collect { case (k, word) if k.added => word }.toSet
}
