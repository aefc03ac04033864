package org.apache.spark.sql.streamjoin.physical.changelog

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
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.streamjoin.logical.plan.KeyHash
import org.apache.spark.sql.streamjoin.physical.exchange.RowSorter

import io.streamjoin.join.changelog.{ChangeKind, ChangelogCounters}

/**
 * The changes of one batch that have been brought together by the key of the output, netted.
 *
 * {{{
 *   an update that the join tells    goes through
 *   what only comes, or only goes    sorted by the key and netted, once all has been read
 * }}}
 *
 * The result has one row of a key before the batch and one after it, at most, each in one join key. An update is of a row
 * that was and is in the same one, so no other join key gives anything of its key. Where the row has gone from one join key
 * to another, one half comes from each.
 *
 * @param hashed by what of the key rows can be hashed
 * @param told the columns in which a row that goes must equal one that comes, to be the same
 * @param kind the column that says what became of a row
 */
private[changelog] final class NettedByKey(
    paired: PairedChanges,
    key: Seq[Attribute],
    hashed: Seq[Attribute],
    told: Seq[Attribute],
    kind: Attribute,
    rows: Iterator[UnsafeRow],
    counters: ChangelogCounters
) extends Iterator[InternalRow] {

  private val columns = paired.columns
  private val order = key.map(SortOrder(_, Ascending))

  private val arriving =
    columns.filterNot(_.exprId == kind.exprId) ++
      (paired.added +: paired.second.added.map(_.toAttribute))
  private val addedAt = arriving.indexWhere(_.exprId == paired.added.exprId)
  private val presentAt = addedAt + 1

  private def as(kind: ChangeKind, image: Seq[Attribute]): UnsafeProjection =
    UnsafeProjection.create(
      image.map(a => if (a.exprId == this.kind.exprId) Literal(kind.name) else a),
      arriving
    )

  private lazy val (insert, delete) =
    (as(ChangeKind.Insert, columns), as(ChangeKind.Delete, columns))
  private lazy val (preimage, postimage) =
    (as(ChangeKind.Preimage, paired.before), as(ChangeKind.Postimage, columns))

  private lazy val areEqual = {
    val before = columns.map(_.exprId).zip(paired.before).toMap
    EqualColumns.of(told.map(a => before(a.exprId)), told, arriving)
  }

  private var sorter: UnsafeExternalRowSorter = _
  private var alone: Iterator[InternalRow] = _

  /** An update of which one image has come out. */
  private var update: UnsafeRow = _

  /** What is next, found already. */
  private var ahead: InternalRow = _

  override def hasNext: Boolean = {
    if (ahead == null) ahead = following()
    ahead != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more changes")
    val row = ahead
    ahead = null
    row
  }

  private def following(): InternalRow =
    if (update != null) {
      val row = update
      update = null
      postimage(row)
    } else {
      while (update == null && rows.hasNext) read(rows.next())
      if (update != null) preimage(update)
      else {
        if (alone == null) alone = netted
        if (alone.hasNext) alone.next() else null
      }
    }

  private def read(row: UnsafeRow): Unit =
    if (!row.getBoolean(presentAt)) sort(if (row.getBoolean(addedAt)) insert(row) else delete(row))
    else if (areEqual(row, row)) {
      // they cancel each other there
      sort(preimage(row))
      sort(postimage(row))
    } else update = row

  private def sort(row: UnsafeRow): Unit = {
    if (sorter == null) sorter = byKey
    sorter.insertRow(row)
  }

  private def byKey: UnsafeExternalRowSorter = {
    val hash = UnsafeProjection.create(Seq(KeyHash.of(hashed)), columns)
    val byKey = RowOrdering.create(order, columns)
    RowSorter.create(columns, hash(_).getLong(0), byKey.compare(_, _))
  }

  private def netted: Iterator[InternalRow] =
    if (sorter == null) Iterator.empty
    else {
      val sorted = sorter.sort().asInstanceOf[Iterator[UnsafeRow]]
      new NettedRuns(order, key, told, kind, columns, sorted, counters).rows
    }
}
