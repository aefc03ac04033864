package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  JoinDescription,
  StoredNumbers,
  StoredReference,
  StoredReferences,
  StoredSources
}
import org.apache.spark.sql.streamjoin.conditions.SessionZone
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{BaseWatermarks, StoredLayout}
import org.apache.spark.sql.streamjoin.physical.timed.{StoredCompleteness, StoredDisorder}
import org.apache.spark.sql.streamjoin.rewrite.{
  MergedNumbers,
  RowReader,
  Share,
  StateWriter,
  Survey
}
import org.apache.spark.sql.types.{DataType, StructType}

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.model.Watermarks.Unknown

/**
 * Plans the state of each operator of a changed query.
 *
 * @param operators all operators of the changed query
 * @param watermarks the watermarks of the checkpoint
 * @param columns compares the columns of stored rows
 */
private[evolve] final class OperatorEvolution(
    session: SparkSession,
    writer: StateWriter,
    partitions: Int,
    operators: Seq[ChangedOperator],
    places: OperatorPlaces,
    watermarks: WatermarkTable,
    columns: ColumnChanges,
    refuse: (String, Seq[(String, String)]) => StreamJoinAnalysisException
) {

  /** An operator that starts without rows. Its watermarks are known as far as others have stored them. */
  def added(now: ChangedOperator): EvolvedOperator = {
    val found = watermarks.of(now, None)
    val base = WatermarkTable.base(found)
    val evicted = now.layout.fold(BySide[Seq[Long]](Nil, Nil))(_.evicting(base))
    val numbers = watermarks.numbers(found)
    EvolvedOperator(
      now,
      RowReader.unchanged(None),
      Seq.fill(partitions)(StateWriter.Contents(numbers, evicted, 0L)),
      s"${now.name}: starts without rows" +: watermarks.changedGroups(now, found).map("  " + _)
    )
  }

  /** An operator that continues with the rows of a stored one. */
  def continued(now: ChangedOperator, from: Continued): EvolvedOperator = now.layout match {
    case Some(layout) => evolved(now, layout, from)
    case None         => copied(now, from.before)
  }

  private def copied(now: ChangedOperator, before: StoredOperator): EvolvedOperator = {
    // its columns would be in another order
    if (places.now(now) != places.before(before))
      throw unsupported(now, "other inputs below an order within partitions")
    if (!now.exec.continuesFrom(before.join.metadata))
      throw unsupported(now, "another order within partitions")
    val stored = before.join.rows.map(rows =>
      StructType(rows.map(field => field.copy(name = columns.renamed(field.name))))
    )
    val isSame = Side.both.forall { side =>
      DataType.equalsIgnoreCompatibleNullability(stored(side), now.exec.storedSchema(side))
    }
    if (!isSame) throw unsupported(now, "other columns of an order within partitions")
    val reader = RowReader.unchanged(Some(before.join))
    val surveys = writer.survey(reader)
    val rows = surveys.map(_.targets.values.map(_.count).sum)
    val contents = surveys.zip(rows).sortBy(_._1.partition).map { case (s, count) =>
      StateWriter.Contents(s.numbers, s.evicted, count)
    }
    EvolvedOperator(
      now,
      reader,
      contents,
      Seq(s"${now.name}: continues ${before.kind} ${before.id}, ${rows.sum} rows, unchanged")
    )
  }

  private def evolved(
      now: ChangedOperator,
      layout: StoredLayout,
      continued: Continued
  ): EvolvedOperator = {
    import continued.{before, from}
    val join = before.join
    val sides = BySide.of(columnsOf(now, layout, continued))
    requireKnown(now, continued, layout, sides)
    val found = watermarks.of(now, Some(continued))
    val evicting = layout.evicting(WatermarkTable.base(found))
    val flags = BySide.of(flagsOf(join.description, from, layout.description))
    val values = sides.map(_.filter(_.now.nonEmpty).map(_.value))
    // the tasks get these alone
    val (was, to) = (from, partitions)
    val reader =
      RowReader(Some(join), new EvolvedRows(join, was, values, flags, layout, evicting, to, _))
    val surveys = writer.survey(reader)
    val counts = BySide.of(side => surveys.map(_.found(side)).foldLeft(RowCounts.Nothing)(_ + _))
    requireDecided(now, join.description, layout.description, flags, counts)
    requireInTime(now, counts)
    requirePresent(now, layout, counts)
    // a format leaves out rows that these watermarks have evicted
    val evicted =
      BySide.of(s => if (counts(s).emitted == 0) evicting(s) else evicting(s).map(_ => Unknown))
    val shares = Share.all(surveys)
    val numbers = numbersOf(continued, layout, surveys, shares)
    val complete = Completeness.of(
      join.description,
      from,
      for ((name, n) <- surveys.head.numbers; c <- StoredCompleteness.columnOf(name)) yield c -> n,
      surveys.head.evicted,
      layout.description,
      evicting,
      columns.renamed
    )
    val times = layout.description.times.said.map(_._1)
    val incomplete = for ((time, watermark) <- complete if watermark != Long.MaxValue)
      yield StoredCompleteness.name(times.indexOf(time)) -> watermark
    val contents = (0 until partitions).map { p =>
      StateWriter.Contents(
        numbers(p) ++ watermarks.numbers(found) ++ incomplete +
          (StoredNumbers.MayHoldExpired -> 1L),
        evicted,
        shares.get(p).fold(0L)(_.count)
      )
    }
    val told = EvolutionText
      .of(now, layout.description, continued, sides, counts, evicting, complete, zone)
    val ofGroups = watermarks.changedGroups(now, found).map("  " + _)
    EvolvedOperator(now, reader, contents, told ++ ofGroups)
  }

  /** The columns of the stored rows of a side. */
  private def columnsOf(now: ChangedOperator, layout: StoredLayout, continued: Continued)(
      side: Side
  ): Seq[ColumnChange] = {
    import continued.{before, from}
    val stored = StoredInput(
      before.join.rows(from(side)),
      places.before(before).lift(from(side).index).getOrElse(Nil),
      places.columnsBefore(before, from(side).index)
    )
    val changed = ChangedInput(
      layout.columns(side),
      places.now(now).lift(side.index).getOrElse(Nil),
      now.exec.originOf
    )
    columns.of(stored, changed, layout.required(side))
  }

  /**
   * The flags of an as-of join say which rows are settled, those of a changelog join which have
   * results.
   */
  private def flagsOf(before: JoinDescription, from: BySide[Side], now: JoinDescription)(
      side: Side
  ): FlagRule = now.kind match {
    case DescribedKind.EventTime => FlagRule.of(before.joinType, from(side), now.joinType, side)
    case _                       => FlagRule.AllStay
  }

  /** The numbers of each new partition that stay, besides its watermarks. */
  private def numbersOf(
      continued: Continued,
      layout: StoredLayout,
      surveys: Seq[Survey[_]],
      shares: Map[Int, Share]
  ): Int => Map[String, Long] = {
    val join = continued.before.join
    val merged =
      new MergedNumbers(join.description, join.routing, layout.routing, surveys, shares)
    merged.different.headOption.foreach { name =>
      throw refuse(
        "UNEVEN",
        Seq("operator" -> join.operator.toString, "what" -> s"the number $name")
      )
    }
    // the disorder of a column has its number
    val sameTimes = continued.from.left == Side.Left &&
      join.description.times.said.map(_._1) == layout.description.times.said.map(_._1)
    merged.of(_).filter { case (name, _) =>
      !BaseWatermarks.isPart(name) && StoredCompleteness.columnOf(name).isEmpty &&
      (sameTimes || StoredDisorder.columnOf(name).isEmpty)
    }
  }

  private def zone = session.sessionState.conf.sessionLocalTimeZone

  /** Refuses changes after which the stored rows have no meaning. */
  private def requireKnown(
      now: ChangedOperator,
      continued: Continued,
      layout: StoredLayout,
      sides: BySide[Seq[ColumnChange]]
  ): Unit = {
    val join = continued.before.join
    val (before, after) = (join.description, layout.description)
    after.kind match {
      case DescribedKind.EventTime =>
        val (was, is) = (before.times.lookup.left.name, after.times.lookup.left.name)
        if (join.isOrder && was != is && columns.renamedIn(was) != is) throw refuse(
          "OTHER_EVENT_TIME",
          Seq("operator" -> now.name, "before" -> was, "now" -> is)
        )
      case _: DescribedKind.AsOf =>
        if (!AsOfChanges.areKnown(before, after, sides, columns.renamedIn))
          throw unsupported(now, "another key or tolerance of an as-of join")
      case _: DescribedKind.Changelog =>
        ChangelogChanges.refused(before, after, sides, columns.renamedIn)
          .foreach(what => throw unsupported(now, what))
    }
    for {
      side <- Side.both if layout.isFoundByAll(side)
      added <- sides(side).filter(_.addsValues).flatMap(_.now)
    } throw unsupported(
      now,
      s"the column ${added.name} is added to an input without a key, and a delete finds a row by " +
        "all columns"
    )
    if ((join.isOrder || after.kind != DescribedKind.EventTime) && !readsSame(now, continued))
      throw unsupported(
        now,
        "a column of another source in its condition, key, filter or event time"
      )
    if (after.times.bounds == Seq(JoinDescription.Contradiction))
      throw refuse("NEVER_TRUE", Seq("operator" -> now.name))
    for {
      was <- before.zone
      is <- after.zone if is.stored.nonEmpty && !SessionZone.same(was.id, is.id)
    } throw refuse("OTHER_ZONE", Seq("operator" -> now.name, "before" -> was.id, "now" -> is.id))
  }

  /** Whether the columns that the operator reads are from the same sources as before. */
  private def readsSame(now: ChangedOperator, continued: Continued): Boolean = {
    val json = continued.before.join.metadata.operatorPropertiesJson
    val before = StoredSources.read(json).map(_._1).zip(places.before(continued.before)).toMap
    val after = now.exec.sources.map(_._1).zip(places.now(now)).toMap
    def placed(r: StoredReference, places: Map[String, Seq[Int]]) =
      r.copy(origin = ColumnPlaces.placed(r.origin, places(r.input)))
    StoredReferences.read(json).forall { stored =>
      val named = stored.map { r =>
        val reader = if (r.isReadByText) columns.renamedIn(r.reader) else r.reader
        placed(r, before).copy(reader = reader, column = columns.renamed(r.column))
      }
      // the branches of a union may be other ones
      def asStored(r: StoredReference) = named.find(_ == r).orElse(named.find { n =>
        n.copy(origin = r.origin) == r && n.origin.isLike(r.origin)
      }).getOrElse(r)
      val (was, is) = StoredReferences
        .different(named, now.exec.storedReferences.map(r => asStored(placed(r, after))))
      was.isEmpty && is.isEmpty
    }
  }

  private def unsupported(now: ChangedOperator, what: String) =
    refuse("UNSUPPORTED_CHANGE", Seq("operator" -> now.name, "what" -> what))

  private def requireDecided(
      now: ChangedOperator,
      before: JoinDescription,
      after: JoinDescription,
      flags: BySide[FlagRule],
      counts: BySide[RowCounts]
  ): Unit =
    for (side <- Side.both; reason <- flags(side).unknown if counts(side).read > 0) throw refuse(
      "OTHER_JOIN_TYPE",
      Seq(
        "operator" -> now.name,
        "before" -> before.joinType.name,
        "now" -> after.joinType.name,
        "rows" -> s"${counts(side).read} ${side.name} rows",
        "reason" -> reason
      )
    )

  /** Refuses rows that would be late in an operator above, because it has passed their times. */
  private def requireInTime(now: ChangedOperator, counts: BySide[RowCounts]): Unit =
    for {
      above <- operators.find(now.isBelow)
      late = counts.left.late + counts.right.late if late > 0
    } throw refuse(
      "LATE_ABOVE",
      Seq("operator" -> now.name, "rows" -> late.toString, "above" -> above.name)
    )

  private def requirePresent(
      now: ChangedOperator,
      layout: StoredLayout,
      counts: BySide[RowCounts]
  ): Unit =
    for (side <- Side.both if counts(side).nulls > 0) throw refuse(
      "NULL_IN_COLUMN",
      Seq(
        "operator" -> now.name,
        "rows" -> s"${counts(side).nulls} ${side.name} rows",
        "columns" -> layout.present(side).map(_.name).mkString(", ")
      )
    )
}
