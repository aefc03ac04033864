package org.apache.spark.sql.streamjoin.rewrite

import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin

/**
 * The rows of one operator, for a new checkpoint. [[StateWriter]] writes them.
 *
 * @param join the operator of the old checkpoint; none for an operator that starts without rows
 * @param mover moves the rows of a partition, in the task that reads them
 * @tparam F what a task finds out about its rows
 */
private[streamjoin] final case class RowReader[F](
    join: Option[StoredJoin],
    mover: Int => RowMover[F]
)

private[streamjoin] object RowReader {

  /** Keeps the rows as they are, in the same partitions. */
  def unchanged(join: Option[StoredJoin]): RowReader[Unit] = RowReader(
    join,
    partition =>
      new RowMover[Unit] {
        override def apply(row: StoredRow): Iterator[(Int, StoredRow)] = Iterator(partition -> row)
        override def found: Unit = ()
      }
  )
}

/**
 * Moves the stored rows of one partition: returns those to write, each with its new partition. They
 * are valid until the next row is read.
 */
private[streamjoin] trait RowMover[F] extends (StoredRow => Iterator[(Int, StoredRow)]) {

  /** What all rows together show. It is called after the last row. */
  def found: F
}
