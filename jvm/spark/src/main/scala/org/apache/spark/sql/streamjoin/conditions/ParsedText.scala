package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, TimestampType}

/**
 * Values that were read from text, as those of `from_json`: text may name an instant by the clocks of the
 * session's time zone, and whatever else it names is the same in all zones.
 */
private[streamjoin] object ParsedText {

  def isParser(e: Expression): Boolean = e match {
    case _: JsonToStructs | _: CsvToStructs | _: XmlToStructs => true
    case _                                                    => false
  }

  def holdsInstant(dataType: DataType): Boolean = dataType.existsRecursively(_ == TimestampType)

  /** What a field, of a field, belongs to, under whatever name. */
  def whole(e: Expression): Expression = e match {
    case Alias(child, _)             => whole(child)
    case GetStructField(child, _, _) => whole(child)
    case _                           => e
  }

  /** Whether an instant of a column that was read from text is in the value of an expression. */
  def readsInstant(e: Expression, column: ExprId): Boolean = whole(e) match {
    case a: Attribute => a.exprId == column && holdsInstant(e.dataType)
    case part         => part.children.exists(readsInstant(_, column))
  }
}
