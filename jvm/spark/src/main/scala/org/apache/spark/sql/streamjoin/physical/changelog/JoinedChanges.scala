package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.exchange.HashRuns

import io.streamjoin.join.changelog.{AppendOnlyJoin, ChangeBuffer, Changed, ChangelogJoin, Expiring}
import io.streamjoin.model.{BySide, Side}

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
    private val (l, r) = (
      new HashRuns(left, rows(Side.Left).joinKey(_)),
      new HashRuns(right, rows(Side.Right).joinKey(_))
    )
    // the keys of which rows expire, beside those of the changes
    private val expiring = operator.retractedKeys.toArray.distinct.sorted.iterator.buffered
    private val buffers = BySide.of(_ => new ChangeBuffer[UnsafeRow])
    private var ofKey = Iterator.empty[Changed[UnsafeRow]]

    override def hasNext: Boolean = {
      while (!ofKey.hasNext && (l.nonEmpty || r.nonEmpty || expiring.nonEmpty)) {
        val arriving = if (!r.nonEmpty || l.nonEmpty && l.hash <= r.hash) l else r
        val key =
          if (!expiring.hasNext || arriving.nonEmpty && arriving.hash < expiring.head) arriving.hash
          else expiring.head
        if (expiring.hasNext && expiring.head == key) expiring.next()
        ofKey = operator.process(key, changes(Side.Left, l, key), changes(Side.Right, r, key))
      }
      ofKey.hasNext
    }

    override def next(): Changed[UnsafeRow] = ofKey.next()

    /** The changes of the key; empty if it is not the next one. The buffer is reused. */
    private def changes(side: Side, input: HashRuns, key: Long): ChangeBuffer[UnsafeRow] = {
      buffers(side).clear()
      input.read(key)(rows(side).addTo(buffers(side), _))
      buffers(side)
    }
  }
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
