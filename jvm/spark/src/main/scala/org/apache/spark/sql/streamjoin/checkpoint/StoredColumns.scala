package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ColumnOrigin
import org.apache.spark.sql.types.{DataType, Metadata, MetadataBuilder, StructField, StructType}
import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import io.streamjoin.model.Side

/**
 * The columns of the stored rows of each input, as stored in the operator's description.
 *
 * The registered schema of a state has no nullability, because Spark requires that it never
 * changes. A query reads a column that is never NULL without a test for NULL. It would read a stored
 * NULL as 0 or as an empty text.
 */
private[streamjoin] object StoredColumns {

  /** Name of the part of the description. */
  val Part: String = "columns"

  // the metadata of a column
  private val Sources = "sources"
  private val Number = "number"
  private val All = "all"

  def part(
      columns: Side => Seq[Attribute],
      originOf: Attribute => Option[ColumnOrigin]
  ): JObject = JObject(JField(
    Part,
    JoinDescription.bySide { side =>
      parse(StructType(columns(side).map { a =>
        StructField(a.name, a.dataType, a.nullable, originOf(a).fold(Metadata.empty)(written))
      }).json)
    }
  ))

  private def written(origin: ColumnOrigin): Metadata = {
    def longs(places: Set[Int]) = places.toArray.sorted.map(_.toLong)
    val first = new MetadataBuilder().putLongArray(Sources, longs(origin.sources))
      .putLong(Number, origin.number.toLong)
    (if (origin.all == origin.sources) first
     else first.putLongArray(All, longs(origin.all))).build()
  }

  /** Where a stored column is from, if the checkpoint tells it. */
  def originOf(column: StructField): Option[ColumnOrigin] = {
    val stored = column.metadata
    Option.when(stored.contains(Number)) {
      def places(name: String) = stored.getLongArray(name).map(_.toInt).toSet
      val sources = places(Sources)
      ColumnOrigin(sources, stored.getLong(Number).toInt)(
        if (stored.contains(All)) places(All) else sources
      )
    }
  }

  /**
   * Refuses a query in which a column is never NULL, if the stored rows may have NULL in it, and one
   * in which a column is from other sources.
   *
   * @param location path of the state
   * @param old stored description, in JSON. One without this part is accepted. So is one without
   *   [[StoredReferences]]: earlier versions stored the nullability of one optimized plan
   * @param now description of the query, in JSON
   */
  def requireSame(location: String, old: String, now: String): Unit =
    for {
      _ <- StoredReferences.read(old).toSeq
      side <- Side.both
      before <- read(old, side)
      after <- read(now, side)
      if DataTypeUtils.sameType(before, after)
    } {
      if (!DataType.equalsIgnoreNameAndCompatibleNullability(before, after))
        throw StateErrors.otherQuery(
          location,
          "its rows may have NULL in a column that is never NULL in this query",
          before.sql,
          after.sql
        )
      for ((was, is) <- before.zip(after); a <- originOf(was); b <- originOf(is) if a != b)
        throw StateErrors.otherQuery(
          location,
          s"its column ${is.name} is from another source",
          a.text,
          b.text
        )
    }

  /** The columns of a side in a description; none if it does not have them. */
  def read(json: String, side: Side): Option[StructType] =
    JoinDescription.fields(json).get(Part).map { columns =>
      DataType.fromJson(compact(render(columns \ side.name))).asInstanceOf[StructType]
    }
}
