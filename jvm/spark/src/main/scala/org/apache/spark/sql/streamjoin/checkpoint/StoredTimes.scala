package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.analysis.EquiKey

import io.streamjoin.bounds.{JoinBounds, Saturated}

/**
 * Stored form of the times of a join and of their derived bounds.
 *
 * @param times the expression of each column of `bounds`
 */
private[streamjoin] final class StoredTimes(times: IndexedSeq[Expression], bounds: JoinBounds) {

  /** Names with the side in front. Equal names of one input are numbered. */
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

  /** The expressions of some times, each with its stored name. */
  def named(columns: Seq[Int]): Seq[(String, Expression)] =
    columns.distinct.map(i => names(i) -> times(i))

  def apply(column: Int): StoredTime =
    StoredTime(names(column), TimeUnit.timeOf(times(column).dataType))

  /** The times with their display names. */
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

  /**
   * SQL text of an expression without qualifiers and IDs. The optimizer removes aliases and each
   * run has other IDs; the columns remain.
   */
  def sql(e: Expression): String =
    e.transform { case a: Attribute => a.withQualifier(Nil) }.sql

  /** The expressions of equalities, each with the number of its equality. */
  def keys(of: Seq[EquiKey]): Seq[(String, Expression)] =
    of.zipWithIndex.flatMap { case (k, i) => Seq(k.left, k.right).map(s"key ${i + 1}" -> _) }

  /** SQL text of an equality, with the type of the key. */
  def sql(k: EquiKey): String =
    s"${sql(k.left)} ${if (k.nullSafe) "<=>" else "="} ${sql(k.right)}: ${k.left.dataType.sql}"
}

/** Stored form of a time bound: `left.t >= right.t - 3600000000`. */
private[streamjoin] object StoredBound {

  def apply(later: String, earlier: String, slack: Long): String = s"$later >= $earlier - $slack"

  /** A time with its display name. */
  type Named = (StoredTime, String)

  /** Parses a bound: the later time, the earlier time, and the slack. */
  def read(bound: String, times: Seq[Named]): Option[(Named, Named, Long)] =
    (for {
      later <- times
      earlier <- times
      start = apply(later._1.name, earlier._1.name, 0).stripSuffix("0")
      slack <- bound.stripPrefix(start).toLongOption
    } yield (later, earlier, slack)).headOption

  /**
   * A bound as a user would write it: `o.t >= d.t - INTERVAL '1' HOUR`.
   *
   * @param times the times with their display names. A bound between other times keeps its stored
   *   form
   */
  def words(bound: String, times: Seq[Named]): String = {
    val said = for {
      ((later, laterName), (_, earlierName), slack) <- read(bound, times)
      unit <- TimeUnit.of(later.dataType)
    } yield s"$laterName >= ${unit.moved(earlierName, Saturated.subtract(0, slack))}"
    said.getOrElse(bound)
  }
}
