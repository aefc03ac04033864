package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.checkpoint.{DescribedKind, JoinDescription}

import io.streamjoin.model.{BySide, Side}

/**
 * The changes of a changelog join that its stored rows allow: those of columns. All else is as it
 * was when the results of the rows were emitted, because a delete retracts these results.
 */
private[evolve] object ChangelogChanges {

  /**
   * What differs, if it is not allowed.
   *
   * @param renamed a text of the stored join with the new names of columns
   */
  def refused(
      before: JoinDescription,
      now: JoinDescription,
      sides: BySide[Seq[ColumnChange]],
      renamed: String => String
  ): Option[String] = {
    val (was, is) = (parts(before).inputs, parts(now).inputs)
    // an expression may read a column of the source, which has no new name
    val changed = was.filterNot(part => is.contains(part) || is.contains(renamed(part))) ++
      is.filterNot(part => was.contains(part) || was.map(renamed).contains(part))
    Compared.collectFirst {
      case (what, of) if of(before).map(renamed).toSet != of(now).toSet =>
        s"$what was ${shown(of(before))}, and is ${shown(of(now))}"
    }.orElse {
      changed.find(part => !Side.both.exists(side => sides(side).exists(follows(part, side, _))))
        .map(part => s"an expression of an input was or is $part")
    }
  }

  /** Whether an expression of an input changes with a column, which stored rows have cast. */
  private def follows(part: String, side: Side, column: ColumnChange): Boolean = {
    def of(name: String) = s"${side.name}.$name = "
    (column.now, column.before) match {
      case (Some(now), Some(old)) =>
        val values = Seq(old.name, s"CAST(${old.name} AS ${now.dataType.sql})")
        values.exists(part == of(now.name) + _)
      case (now, old) => (now.map(_.name) ++ old.map(_.name)).exists(n => part.startsWith(of(n)))
    }
  }

  private def parts(of: JoinDescription): DescribedKind.Changelog = of.changelog.get

  private val Compared = Seq[(String, JoinDescription => Seq[String])](
    "the type of the changelog join" -> (d => Seq(d.joinType.name)),
    "the identity of rows" -> (parts(_).identity),
    "the condition" -> (parts(_).condition),
    "the filter on its result" -> (parts(_).filters),
    "the time by which rows leave" -> (d => Side.both.flatMap(d.times.limits(_)).map(_.name)),
    "the bounds of event times" -> (_.times.bounds)
  )

  private def shown(some: Seq[String]): String = if (some.isEmpty) "none" else some.mkString(", ")
}
