package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.types.{DataType, Metadata, StructType}
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

  def part(rows: Side => StructType): JObject = JObject(
    JField(
      Part,
      JoinDescription.bySide { side =>
        parse(StructType(rows(side).map(_.copy(metadata = Metadata.empty))).json)
      }
    )
  )

  /**
   * Refuses a query in which a column is never NULL, if the stored rows may have NULL in it.
   *
   * @param location path of the state
   * @param old stored description, in JSON. One without this part is accepted
   * @param now description of the query, in JSON
   */
  def requireNullable(location: String, old: String, now: String): Unit =
    for {
      side <- Side.both
      before <- read(old, side)
      after <- read(now, side)
      if DataTypeUtils.sameType(before, after)
      if !DataType.equalsIgnoreNameAndCompatibleNullability(before, after)
    } throw StateErrors.otherQuery(
      location,
      "its rows may have NULL in a column that is never NULL in this query",
      before.sql,
      after.sql
    )

  /** The columns of a side in a description; none if it does not have them. */
  def read(json: String, side: Side): Option[StructType] =
    JoinDescription.fields(json).get(Part).map { columns =>
      DataType.fromJson(compact(render(columns \ side.name))).asInstanceOf[StructType]
    }
}
