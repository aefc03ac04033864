package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedZone,
  JoinDescription,
  StateFormat,
  StoredBound,
  StoredTime
}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.EquiKey
import org.apache.spark.sql.types.DataType

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Side

/** An event-time join as it is written beside its state. */
private[physical] object DescribedJoin {

  def of(spec: StreamJoinSpec, format: StateFormat): JoinDescription = {
    val names = timeNames(spec)
    def time(column: Int) = StoredTime(names(column), typeOf(spec.times(column)))
    JoinDescription(
      format.name,
      format.number.current,
      spec.joinType,
      spec.routing,
      spec.equiKeys.map(key),
      spec.bases.map(_.name),
      proved(spec.bounds, names),
      Side.both.map(s => s -> time(spec.bounds.probeColumn(s))).toMap,
      Side.both.map(s => s -> spec.bounds.limiting(s).map(time)).toMap,
      names.indices.map(i => time(i) -> spec.bounds.columns(i).name),
      DescribedZone.of(spec.equiKeys.flatMap(k => Seq(k.left, k.right)) ++ spec.times, spec.zones)
    )
  }

  private def key(k: EquiKey): String =
    s"${sql(k.left)} ${if (k.nullSafe) "<=>" else "="} ${sql(k.right)}: ${k.left.dataType.sql}"

  private def proved(bounds: JoinBounds, names: IndexedSeq[String]): Seq[String] =
    if (bounds.contradictory) Seq(JoinDescription.Contradiction)
    else {
      val all = for {
        later <- names.indices
        earlier <- names.indices
        if later != earlier && bounds.slack(later, earlier) != JoinBounds.Unbounded
      } yield StoredBound(names(later), names(earlier), bounds.slack(later, earlier))
      all.sorted
    }

  /** Names for the times of a join: those of one input that are called the same are numbered. */
  private def timeNames(spec: StreamJoinSpec): IndexedSeq[String] = {
    val plain = spec.bounds.columns.zip(spec.times).map { case (column, time) =>
      s"${column.side.name}.${sql(time)}"
    }
    plain.zipWithIndex.map { case (name, i) =>
      plain.take(i).count(_ == name) match {
        case 0      => name
        case before => s"$name (${before + 1})"
      }
    }
  }

  private def typeOf(time: Expression): DataType =
    TimeUnit.timeOf(time.dataType)

  /** Aliases come and go with the optimizer, ids with each run; the columns themselves stay. */
  private def sql(e: Expression): String =
    e.transform { case a: Attribute => a.withQualifier(Nil) }.sql
}
