package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.AsOfJoin
import org.apache.spark.sql.streamjoin.physical.stateful.TimeWords

import io.streamjoin.model.Side

/** What `explain` says of an as-of join, in words. */
private[asof] object AsOfExplanation {

  def lines(j: AsOfJoin): Seq[String] = {
    import j.bounds.{build, probe}
    val words = new TimeWords(j.analysis)
    val unit = TimeUnit.of(j.time(probe).dataType).get
    def name(side: Side) = j.names(side.index)
    val until = unit.movedInWords(name(probe), j.bounds.reach)
    val keys = j.analysis.equiKeys.map(k =>
      ColumnNames.sql(k.of(build))
    )
    val of = if (keys.isEmpty) "" else s" of its ${keys.mkString(", ")}"
    val rows = if (j.bounds.count == 1) "row" else s"${j.bounds.count} rows"
    val end = j.bounds.tolerance.fold("; that is kept without end") { t =>
      val oldest = unit.movedInWords(name(probe), -t)
      s", none older than $oldest"
    }
    words.watermarks ++ Seq(
      s"each row of ${words.input(probe)} meets the last $rows$of in ${words.input(build)} at or before " +
        until + end
    ) ++ j.analysis.conjuncts.map { c =>
      val what =
        if (j.analysis.isEquality(c)) "equality"
        else "asked of the last rows"
      s"condition ${ColumnNames.sql(c)}: $what"
    } ++ Seq(
      s"a row comes out when the watermarks of ${name(probe)} and ${name(build)} have passed " +
        s"${name(probe)} and $until"
    )
  }
}
