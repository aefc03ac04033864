package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

import io.streamjoin.bounds.JoinBounds

/**
 * The times of a join, and what is proved of them, as they are written beside its state.
 *
 * @param times the expression behind each column of `bounds`
 */
private[streamjoin] final class StoredTimes(times: IndexedSeq[Expression], bounds: JoinBounds) {

  /** With the side in front; those of one input that are called the same are numbered. */
  private val names: IndexedSeq[String] = {
    val plain = bounds.columns.zip(times).map { case (column, time) =>
      s"${column.side.name}.${StoredTimes.sql(time)}"
    }
    plain.zipWithIndex.map { case (name, i) =>
      plain.take(i).count(_ == name) match {
        case 0      => name
        case before => s"$name (${before + 1})"
      }
    }
  }

  def apply(column: Int): StoredTime =
    StoredTime(names(column), TimeUnit.timeOf(times(column).dataType))

  /** Each with what the person called it. */
  def said: Seq[(StoredTime, String)] =
    names.indices.map(i => apply(i) -> bounds.columns(i).name)

  def proved: Seq[String] =
    if (bounds.contradictory) Seq(JoinDescription.Contradiction)
    else {
      val all = for {
        later <- names.indices
        earlier <- names.indices
        if later != earlier && bounds.slack(later, earlier) != JoinBounds.Unbounded
      } yield StoredBound(names(later), names(earlier), bounds.slack(later, earlier))
      all.sorted
    }
}

private[streamjoin] object StoredTimes {

  /** Aliases come and go with the optimizer, ids with each run; the columns themselves stay. */
  def sql(e: Expression): String =
    e.transform { case a: Attribute => a.withQualifier(Nil) }.sql
}
