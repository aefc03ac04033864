package org.apache.spark.sql.streamjoin.checkpoint.simulation

import io.streamjoin.testing.{Emitted, TestRow}

/** An operator whose units are rows, and the end of time as the last one. */
private[simulation] trait RowOperator extends Operator {

  protected def rows: IndexedSeq[TestRow]

  private def partitionOf(row: TestRow): Int = (row.key.getOrElse(0L) % partitions).toInt

  protected def of(units: Range): Seq[TestRow] = units.flatMap(rows.lift)

  protected def of(units: Range, partition: Int): Seq[TestRow] =
    of(units).filter(partitionOf(_) == partition)

  protected def endsIn(units: Range): Boolean = units.contains(rows.length)

  /**
   * What each batch adds to the output.
   *
   * @param outputSoFar gives the output up to a batch, and gets one batch after another
   */
  protected def added(
      ends: Seq[Int]
  )(outputSoFar: Range => Seq[Emitted]): IndexedSeq[Seq[Any]] = {
    var before = Seq.empty[Emitted]
    Operator.batches(ends).map { units =>
      val now = outputSoFar(units)
      val emitted = now.diff(before)
      before = now
      emitted
    }.toIndexedSeq
  }

  override def shown(units: Range): String =
    (of(units).map(_.toString) ++ Option.when(endsIn(units))("the end of time")).mkString(" ")
}
