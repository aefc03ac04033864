package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  JoinDescription,
  StoredBound,
  StoredTime
}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

import io.streamjoin.model.{BySide, Side, Watermarks}

/** The lines about an operator: what its stored rows get, and what is promised of its results. */
private[evolve] object EvolutionText {

  /**
   * @param evicting the watermarks that evict the rows of a side
   * @param complete see [[Completeness.of]]
   */
  def of(
      now: ChangedOperator,
      description: JoinDescription,
      continued: Continued,
      columns: BySide[Seq[ColumnChange]],
      counts: BySide[RowCounts],
      evicting: BySide[Seq[Long]],
      complete: Seq[(StoredTime, Long)],
      zone: String
  ): Seq[String] = {
    import continued.{before, from}
    val was = before.join.description
    val rows = counts.left.read + counts.right.read
    val head = s"${now.name}: continues ${before.kind} ${before.id}, $rows rows"
    val ofJoin = if (before.join.isOrder) Nil
    else if (before.isSparks) Seq(s"type: ${was.joinType.name}, as in the changed query")
    else changed("type", was.joinType.name, description.joinType.name) ++
      changed("keys", was.keys.mkString(", "), description.keys.mkString(", ")) ++
      changed("bounds", bounds(was), bounds(description))
    val changes = ofJoin ++ changed(
      "sources",
      SourceMap.shown(before.sources),
      SourceMap.shown(now.inputs.flatten)
    )
    val sides = now.exec.sources.map(_._1).zip(Side.both)
    val tables = sides.flatMap { case (input, side) => table(input, columns(side)) }
    val left = sides.flatMap { case (input, side) => leaving(input, counts(side), evicting(side)) }
    val matches =
      if (
        description.kind == DescribedKind.EventTime &&
        Side.both.exists(description.joinType.notesMatches)
      )
        Seq("rows that had a match before still count as matched")
      else Nil
    val exchanged = if (from.left == Side.Right) Seq("the inputs are exchanged") else Nil
    head +: (changes ++ exchanged ++ tables ++ left ++ matches ++ completeness(
      description,
      complete,
      zone
    ))
      .map("  " + _)
  }

  private def changed(what: String, before: String, now: String): Seq[String] =
    if (before == now) Seq(s"$what: $now, unchanged") else Seq(s"$what: $now, before: $before")

  private def bounds(of: JoinDescription): String =
    if (of.times.bounds.isEmpty) "none"
    else of.times.bounds.map(StoredBound.words(_, of.times.said)).mkString(" AND ")

  private def table(input: String, columns: Seq[ColumnChange]): Seq[String] = {
    val lines = Seq(s"$input column", "before", "after", "stored rows get") +: columns.map { c =>
      val name = c.now.map(_.name).orElse(c.before.map(_.name)).get
      Seq(
        name,
        c.before.fold("-")(f =>
          if (f.name == name) f.dataType.sql else s"${f.name} ${f.dataType.sql}"
        ),
        c.now.fold("-")(_.dataType.sql),
        c.gets
      )
    }
    val widths = lines.transpose.map(_.map(_.length).max)
    lines.map(
      _.zip(widths).map { case (text, width) => text.padTo(width, ' ') }.mkString("  ").trim
    )
  }

  private def leaving(input: String, counts: RowCounts, evicting: Seq[Long]): Seq[String] = {
    val first = if (evicting.exists(_ != Watermarks.Unknown)) "the first batch"
    else "the batch in which the watermark of the other input passes them"
    Seq(
      counts.left -> "leave: they can give no result",
      counts.emitted -> s"can match nothing: $first emits them unmatched"
    ).collect { case (n, what) if n > 0 => s"$n $input rows $what" }
  }

  private def completeness(
      description: JoinDescription,
      complete: Seq[(StoredTime, Long)],
      zone: String
  ): Seq[String] = complete.map { case (time, watermark) =>
    val said =
      description.times.said.collectFirst { case (`time`, said) => said }.getOrElse(time.name)
    val start = "some rows that the changed join needs have left the state: results are complete"
    if (watermark == Long.MaxValue) s"$start when these would have left it, too"
    else {
      val shown = TimeUnit.of(time.dataType).get.text(watermark, zone)
      s"$start once the watermark of $said has passed $shown"
    }
  }
}
