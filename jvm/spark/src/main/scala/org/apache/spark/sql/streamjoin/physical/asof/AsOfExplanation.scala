package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.AsOfJoin
import org.apache.spark.sql.streamjoin.physical.stateful.TimeWords

/** What `explain` says of an as-of join, in words. */
private[asof] object AsOfExplanation {

  /** Which rows meet, for the node's own line. */
  def summary(j: AsOfJoin): String = new Words(j).meets

  def lines(j: AsOfJoin): Seq[String] = {
    val words = new Words(j)
    words.times.watermarks ++ Seq(words.meets) ++
      j.analysis.conjuncts.map(c => s"condition ${ColumnNames.sql(c)}: ${words.part(c)}") :+
      words.comesOut
  }

  private final class Words(j: AsOfJoin) {
    import j.bounds.{build, probe}

    val times = new TimeWords(j.analysis)

    private val unit = TimeUnit.of(j.time(probe).dataType).get
    private val (own, other) = (j.names(probe.index), j.names(build.index))

    /** Up to when a row of the build side counts. */
    private val until = unit.movedInWords(own, j.bounds.reach)

    def meets: String = {
      val rows = if (j.bounds.count == 1) "row" else s"${j.bounds.count} rows"
      val keys = j.analysis.equiKeys.map { k =>
        s"${sql(k.of(build))} ${if (k.nullSafe) "<=>" else "="} ${sql(k.of(probe))}"
      }
      val oldest = j.bounds.tolerance.fold("; the last row of each key is kept without end") { t =>
        s", none older than ${unit.movedInWords(own, -t)}"
      }
      s"each row of ${times.input(probe)} meets the last $rows of ${times.input(build)} with " +
        (keys :+ s"$other <= $until").mkString(" and ") + oldest
    }

    def part(c: Expression): String =
      if (j.analysis.isEquality(c)) "equality"
      else if (isAge(c)) "how old the last row may be"
      else "asked of the last row" + (if (j.bounds.count == 1) "" else "s")

    /** Whether it says of the times alone how far before a row of the probe side one may be. */
    private def isAge(c: Expression): Boolean = j.analysis.conditionBounds.found.exists { b =>
      b.conjunct == c && b.isWholeConjunct && b.later.semanticEquals(j.time(build)) &&
      b.earlier.semanticEquals(j.time(probe))
    }

    def comesOut: String =
      if (until == own) s"a row comes out when the watermarks of $own and $other have passed $own"
      else s"a row comes out when the watermark of $own has passed $own and that of $other $until"

    private def sql(e: Expression): String = ColumnNames.sql(e)
  }
}
