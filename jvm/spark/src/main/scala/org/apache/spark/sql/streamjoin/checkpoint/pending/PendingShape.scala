package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.types._

import io.streamjoin.model.Side

/**
 * Schema of the buffered rows.
 *
 *  - A time has its own type if all times have the same one. Otherwise it is a string.
 *  - A row is a struct if only one side of one join is read. Otherwise it is JSON.
 */
private[pending] final class PendingShape(joins: Seq[StoredJoin], sides: Seq[Side], zone: String) {

  private val shown = for (join <- joins; side <- sidesOf(join)) yield (join, side)

  private val time = {
    val (byTime, others) = shown
      .map { case (j, s) => isByTime(j) -> j.description.times.lookup(s).dataType }
      .partition(_._1)
    common((if (byTime.isEmpty) others else byTime).map(_._2))
  }

  private val limit = common(for {
    (join, side) <- shown
    limit <- join.description.times.limits(side)
  } yield PendingSide.limitType(limit))

  private val row = shown match {
    case Seq((join, side)) if sides.length == 1 =>
      StructType(join.rows(side).map(_.copy(metadata = Metadata.empty)))
    case _ => StringType
  }

  val schema: StructType = {
    val limits = new StructType()
      .add("waits_for", StringType, nullable = false)
      .add("expires", limit)
      .add("watermark", limit)
    new StructType()
      .add("batch_id", LongType, nullable = false)
      .add("operator_id", LongType, nullable = false)
      .add("partition_id", IntegerType)
      .add("side", StringType, nullable = false)
      .add("time", time)
      .add("waits_for", StringType)
      .add("expires", limit)
      .add("watermark", limit)
      .add("waits_for_group", StringType)
      .add("matched", BooleanType)
      .add("limits", ArrayType(limits, containsNull = false), nullable = false)
      .add("row", row)
  }

  /** The sides of a join that are read. */
  def sidesOf(join: StoredJoin): Seq[Side] = join.sides.filter(sides.contains(_))

  def side(join: StoredJoin, side: Side): PendingSide = PendingSide(
    join.called(side),
    join.description.joinType.notesMatches(side),
    Option.when(isByTime(join))(join.description.times.lookup(side).dataType),
    join.description.times.limits(side),
    join.groups(side),
    join.rows(side),
    schema,
    zone
  )

  /** Changelog joins probe rows by row identity, not by time. */
  private def isByTime(join: StoredJoin): Boolean = join.description.changelog.isEmpty

  private def common(types: Seq[DataType]): DataType = types.distinct match {
    case Seq(one) => one
    case _        => StringType
  }
}
