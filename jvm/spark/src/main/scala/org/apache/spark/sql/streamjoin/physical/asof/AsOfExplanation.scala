package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.nodes.AsOfJoin
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{Explanation, TimeWords}

/** Text of `explain` about an as-of join. */
private[asof] object AsOfExplanation {

  def of(j: AsOfJoin): Explanation = {
    val words = new Words(j)
    Explanation(
      words.meets,
      words.times.watermarks ++ Seq(words.meets) ++ words.versions ++
        j.analysis.conjuncts.map(c => s"condition ${ColumnNames.sql(c)}: ${words.part(c)}") :+
        words.comesOut
    )
  }

  private final class Words(j: AsOfJoin) {
    import j.bounds.{build, probe}

    val times = new TimeWords(j.analysis)

    private val unit = TimeUnit.of(j.time(probe).dataType).get
    private val (own, other) = (j.names(probe.index), j.names(build.index))

    /** The largest time of a build row that may match a probe row. */
    private val until = unit.movedInWords(own, j.bounds.reach)

    def meets: String = {
      val rows = if (j.bounds.count == 1) row else s"${j.bounds.count} ${row}s"
      val keys = j.equiKeys.map { k =>
        s"${sql(k.of(build))} ${if (k.nullSafe) "<=>" else "="} ${sql(k.of(probe))}"
      }
      val end = if (j.versions.isEmpty) "without limit" else "until the key is deleted"
      val oldest = j.bounds.tolerance.fold(s"; the last $row of each key is stored $end") { t =>
        s", none older than ${unit.movedInWords(own, -t)}"
      }
      s"each row of ${times.input(probe)} is joined with the last $rows of " +
        s"${times.input(build)} with " +
        (keys :+ s"$other <= $until").mkString(" and ") + oldest
    }

    /** When a version of a changelog is valid. */
    def versions: Option[String] = j.versions.map { v =>
      val key = v.key.map(_.name).mkString(", ")
      val ties = v.sequence.fold("")(s => s"; among equal times ${s.name} decides")
      s"a version is valid from its $other to that of the next version or the delete of its key, $key$ties"
    }

    def part(c: Expression): String =
      if (isKey(c)) "equality"
      else if (isAge(c)) s"maximum age of the last $row"
      else s"evaluated on the last $row" + (if (j.bounds.count == 1) "" else "s")

    private def row = if (j.versions.isEmpty) "row" else "version"

    /**
     * Whether the conjunct is an equality by which rows are looked up. With versions, only
     * equalities of their key are. All others are evaluated on the last rows.
     */
    private def isKey(c: Expression): Boolean = j.analysis.isEquality(c) &&
      j.versions.forall(v => c.references.exists(v.keyColumn(_).nonEmpty))

    /** Whether the conjunct only limits how much earlier than the probe row a build row may be. */
    private def isAge(c: Expression): Boolean = j.analysis.conditionBounds.found.exists { b =>
      b.conjunct == c && b.isWholeConjunct && b.later.semanticEquals(j.time(build)) &&
      b.earlier.semanticEquals(j.time(probe))
    }

    def comesOut: String =
      if (until == own) s"a row is emitted when the watermarks of $own and $other have passed $own"
      else s"a row is emitted when the watermark of $own has passed $own and that of $other $until"

    private def sql(e: Expression): String = ColumnNames.sql(e)
  }
}
