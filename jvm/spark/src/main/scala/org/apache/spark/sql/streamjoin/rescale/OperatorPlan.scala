package org.apache.spark.sql.streamjoin.rescale

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.checkpoint.HotKeySums
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.JoinDistribution
import org.apache.spark.sql.streamjoin.rewrite.{
  MergedNumbers,
  NewFiles,
  RowReader,
  Share,
  StateWriter,
  Survey
}

import io.streamjoin.model.{BySide, Side, Watermarks}
import io.streamjoin.placement.{HotKeys, Routing}

/**
 * What is written for one operator.
 *
 * @param reader reads the rows, by keys that agree with all of them
 * @param contents what each new partition has beside its rows
 * @param hot the hot keys, with their new partitions
 */
private[rescale] final case class OperatorPlan(
    join: StoredJoin,
    reader: RowReader[FoundKeys],
    contents: Seq[StateWriter.Contents],
    hot: Option[HotKeys],
    rows: Long
) {

  /** @return the IDs of the new versions by partition, if the checkpoint records IDs */
  def write(writer: StateWriter, files: NewFiles, batch: Long): Option[Seq[String]] = {
    files.describe(join, batch, hot)
    val state = StateWriter.NewState(
      files.state.toString,
      join.operator,
      join.version,
      join.recordsIds,
      join.description.format,
      join.rows
    )
    writer.write(reader, state, contents)
  }

  def told: String = {
    val kind = if (join.isOrder) "ordered output" else "join"
    s"$kind ${join.operator}: $rows rows, from ${join.partitions} to ${contents.length} partitions"
  }
}

/**
 * Plans one operator: reads all its rows, and refuses it if not all of it can be moved.
 *
 * @param joins all operators of the checkpoint
 * @param location the checkpoint, for refusals
 */
private[rescale] final class OperatorPlanner(
    session: SparkSession,
    writer: StateWriter,
    joins: Seq[StoredJoin],
    join: StoredJoin,
    partitions: Int,
    location: String
) {

  def plan(): OperatorPlan = {
    val asked = BySide.of(keys)
    val first = writer.survey(readerOf(asked))
    val agreed = BySide.of(side => agreedOf(side, asked(side), first))
    val reader = readerOf(agreed)
    // a reading that fits the rows of one partition by chance has counted them elsewhere
    val surveys =
      if (Side.both.forall(side => isDecided(asked(side)))) first else writer.survey(reader)
    val shares = Share.all(surveys)
    val numbers = new MergedNumbers(join.description, join.routing, join.routing, surveys, shares)
    numbers.different.headOption.foreach(name => throw uneven(s"the number $name"))
    val evicted = BySide.of(evictedOf(_, surveys))
    val hotKeys = hot(surveys)
    val sum = HotKeySums.of(hotKeys).map(HotKeySums.Name -> _)
    OperatorPlan(
      join,
      reader,
      (0 until partitions).map { p =>
        StateWriter.Contents(numbers.of(p) ++ sum, evicted, shares.get(p).fold(0L)(_.count))
      },
      hotKeys,
      shares.values.map(_.count).sum
    )
  }

  /** @param keys for each side, the readings of the stored keys that are possible */
  private def readerOf(keys: BySide[Seq[KeyReading]]): RowReader[FoundKeys] = {
    // the tasks get these alone
    val (of, to) = (join, partitions)
    RowReader(Some(of), new RowPlaces(of, keys, to, _))
  }

  /** Whether all readings that agree with the rows of a partition place each of them alike. */
  private def isDecided(keys: Seq[KeyReading]): Boolean =
    keys.length < 2 || keys.forall(_.hashed)

  /** A reading of the keys that agrees with all rows. */
  private def agreedOf(
      side: Side,
      keys: Seq[KeyReading],
      surveys: Seq[Survey[FoundKeys]]
  ): Seq[KeyReading] = {
    val found = surveys.map(_.found.readings(side)).reduce(_ & _)
    if (keys.nonEmpty && found.isEmpty) throw unknownKey(side)
    found.toSeq.sorted.headOption.map(keys).toSeq
  }

  private def evictedOf(side: Side, surveys: Seq[Survey[FoundKeys]]): Seq[Long] = {
    val limits = join.description.times.limits(side).length
    surveys.map(_.evicted(side).padTo(limits, Watermarks.Unknown)).distinct match {
      case Seq(one) => one
      case _        => throw uneven(s"the watermarks that evict ${side.name} rows")
    }
  }

  /** A hot key without buffered rows is found again when it has rows. */
  private def hot(surveys: Seq[Survey[FoundKeys]]): Option[HotKeys] = join.routing match {
    case Routing.ByKeyAndTime(_, keys) if partitions > 1 =>
      val found = surveys.flatMap(_.found.hotKeys).toMap
      Some(keys.copy(keys = keys.keys.flatMap(found.get))).filter(_.size > 0)
    case _ => None
  }

  /** The readings of the keys of a side; none if its time or the row itself decides. */
  private def keys(side: Side): Seq[KeyReading] = join.routing match {
    case Routing.Broadcast(_) if join.description.changelog.nonEmpty =>
      throw refusal("NO_EQUALITY", "operator" -> join.operator.toString)
    case Routing.Broadcast(_)                    => Seq(anywhere(side))
    case Routing.ByKey if join.isOrder           => likeJoins(side) :+ anywhere(side)
    case Routing.ByKey | _: Routing.ByKeyAndTime => byKey(side)
    case _                                       => Nil
  }

  private def byKey(side: Side): Seq[KeyReading] =
    if (join.description.keys.isEmpty) Seq(inOnePartition(side))
    else {
      val found = readings(join, side, side)
      if (found.isEmpty) throw unknownKey(side)
      found
    }

  /**
   * The keys of the joins, for an ordered output: its rows mostly stay in the partitions of a join
   * below. Then the held rows of a key stay together with those that follow.
   */
  private def likeJoins(side: Side): Seq[KeyReading] = for {
    other <- joins if !other.isOrder && other.description.keys.nonEmpty
    of <- Side.both
    reading <- readings(other, of, side)
  } yield reading.copy(hashed = false)

  private def readings(of: StoredJoin, keysOf: Side, side: Side): Seq[KeyReading] =
    storedKeys(of).of(of.description.keys, keysOf, join.rows(side))

  private def storedKeys(of: StoredJoin) = new StoredKeys(session, of.description.zone.map(_.id))

  /** The rows may be in any partition: those with equal columns are in one. */
  private def anywhere(side: Side): KeyReading = {
    val columns = DataTypeUtils.toAttributes(join.rows(side))
    val by = JoinDistribution.orOnePartition(JoinDistribution.hashable(columns))
    KeyReading(by, columns, hashed = false, placed = false)
  }

  private def inOnePartition(side: Side): KeyReading = KeyReading(
    Seq(Literal(0)),
    DataTypeUtils.toAttributes(join.rows(side)),
    hashed = false,
    placed = true
  )

  private def refusal(
      subClass: String,
      parameters: (String, String)*
  ): StreamJoinAnalysisException = StateErrors.rewrite(subClass, location, parameters: _*)

  private def unknownKey(side: Side) = refusal(
    "UNKNOWN_KEY",
    "operator" -> join.operator.toString,
    "side" -> side.name,
    "key" -> join.description.keys.mkString(", "),
    "reason" -> storedKeys(join).refused(join.description.keys).fold(
      "its stored rows do not tell the value of that"
    )(found => s"this calls $found, which rescale does not run")
  )

  private def uneven(what: String) =
    refusal("UNEVEN", "operator" -> join.operator.toString, "what" -> what)
}
