package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.exchange.HashedRows

import io.streamjoin.join.changelog.{AppendOnlyJoin, ChangeBuffer, Changed, ChangelogJoin, Expiring}
import io.streamjoin.model.Side

/** Operator of a batch, with the order in which it reads its inputs. */
private[changelog] sealed trait JoinedChanges {

  def operator: Expiring

  /** The output of the batch. The inputs are read lazily. */
  def of(left: Iterator[InternalRow], right: Iterator[InternalRow]): Iterator[Changed[UnsafeRow]]
}

/**
 * Join of inputs that are sorted by the hash of the join key: it processes one key after another.
 */
private[changelog] final class ChangesByKey(
    rows: UnsafeChangelogRows,
    override val operator: ChangelogJoin[UnsafeRow, UnsafeRow]
) extends JoinedChanges {

  override def of(
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[Changed[UnsafeRow]] = new Iterator[Changed[UnsafeRow]] {
    private val (l, r) =
      (new KeyRuns(rows(Side.Left), left), new KeyRuns(rows(Side.Right), right))
    private var ofKey = Iterator.empty[Changed[UnsafeRow]]

    override def hasNext: Boolean = {
      while (!ofKey.hasNext && (l.nonEmpty || r.nonEmpty)) {
        val key = if (l.isBefore(r)) l.key else r.key
        ofKey = operator.process(key, l.take(key), r.take(key))
      }
      ofKey.hasNext
    }

    override def next(): Changed[UnsafeRow] = ofKey.next()
  }
}

/** Reader of the changes of one input, one join key at a time. */
private final class KeyRuns(
    rows: UnsafeChangelogRows#OneSide,
    input: Iterator[InternalRow]
) {
  private var ahead: UnsafeRow = _
  private var aheadKey = 0L
  private val keyAhead: () => Long = input match {
    case sorted: HashedRows => () => sorted.hash
    case _                  => () => rows.joinKey(ahead)
  }
  advance()

  def nonEmpty: Boolean = ahead != null

  /** The hash of the next join key. Valid if there are more changes. */
  def key: Long = aheadKey

  /** Whether the next key is at most the next key of the other input. */
  def isBefore(other: KeyRuns): Boolean = nonEmpty && (!other.nonEmpty || key <= other.key)

  private val run = new ChangeBuffer[UnsafeRow]

  /**
   * The changes of the key; empty if it is not the next one. The buffer is reused for the next key.
   */
  def take(key: Long): ChangeBuffer[UnsafeRow] = {
    run.clear()
    while (ahead != null && aheadKey == key) {
      run.add(rows.kept(ahead), rows.isAdded(ahead))
      if (rows.replaces(ahead)) run.add(rows.replaced(ahead), marked = false)
      advance()
    }
    run
  }

  private def advance(): Unit =
    if (input.hasNext) {
      ahead = input.next().asInstanceOf[UnsafeRow]
      aheadKey = keyAhead()
    } else ahead = null
}

/** Join of append-only inputs: it processes the left rows, then the right rows, one at a time. */
private[changelog] final class AppendedRows(
    rows: UnsafeChangelogRows,
    override val operator: AppendOnlyJoin[UnsafeRow, UnsafeRow]
) extends JoinedChanges {

  override def of(
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[Changed[UnsafeRow]] =
    left.flatMap(joined(Side.Left, _)) ++ right.flatMap(joined(Side.Right, _))

  private def joined(side: Side, row: InternalRow): Iterator[Changed[UnsafeRow]] = {
    val arriving = row.asInstanceOf[UnsafeRow]
    operator.insert(side, rows(side).joinKey(arriving), rows(side).passing(arriving))
  }
}
