package org.apache.spark.sql.streamjoin.logical.resolve.orders

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.{ColumnNames, NearestWord}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types._

/** Advice for a column that cannot be an event time: sentences without the last full stop. */
private[resolve] object TimeOfColumn {

  /** How to convert a column of another type to an event time, or the field of it that is one. */
  def made(column: Attribute): String = {
    val name = ColumnNames.written(Seq(column.name))
    def below(expression: String) =
      s"Compute a time from it below the order: select $expression AS $name, or another name"
    column.dataType match {
      case _: StringType => below(s"to_timestamp($name)")
      case DoubleType | FloatType =>
        below(s"timestamp_micros(CAST($name * 1000000 AS BIGINT)) (of seconds)")
      case _: DecimalType => below(s"timestamp_seconds($name) (of seconds)")
      case BinaryType     => below(s"to_timestamp(CAST($name AS STRING))")
      case s: StructType =>
        s.fields.find(f => TimeUnit.of(f.dataType).nonEmpty).fold(other) { field =>
          val inside = ColumnNames.written(Seq(column.name, field.name))
          s"Select a field as a separate column below the order: select $inside AS " +
            ColumnNames.written(Seq(field.name))
        }
      case _ => other
    }
  }

  private val other = "Impose the order on a column of one of these types"

  /** The columns with a similar name, or else the columns with a suitable type. */
  def meant(column: Seq[String], input: LogicalPlan): String = {
    val times = input.output.filter(a => TimeUnit.of(a.dataType).nonEmpty)
    if (times.isEmpty) "None of these columns has a type that can have an order. See to_timestamp"
    else {
      NearestWord.of(column.last, times.map(_.name)).fold(
        "These columns have a type that can have an order: " +
          s"${times.map(ColumnNames.of).mkString(", ")}"
      )(name => s"Perhaps write ${ColumnNames.written(Seq(name))}")
    }
  }
}
