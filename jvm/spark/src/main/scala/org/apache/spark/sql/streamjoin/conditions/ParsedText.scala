package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, TimestampType}

/**
 * Finds values that were parsed from text, for example by `from_json`. A text may have an instant
 * in local time, which depends on the session time zone. Values of all other types do not.
 */
private[streamjoin] object ParsedText {

  def isParser(e: Expression): Boolean = e match {
    case _: JsonToStructs | _: CsvToStructs | _: XmlToStructs => true
    case _                                                    => false
  }

  def holdsInstant(dataType: DataType): Boolean = dataType.existsRecursively(_ == TimestampType)

  /** The expression whose field, at any depth and under any alias, is `e`. */
  def whole(e: Expression): Expression = e match {
    case Alias(child, _)             => whole(child)
    case GetStructField(child, _, _) => whole(child)
    case _                           => e
  }

  /** Whether the value depends on an instant in a column that was parsed from text. */
  def readsInstant(e: Expression, column: ExprId): Boolean = whole(e) match {
    case a: Attribute => a.exprId == column && holdsInstant(e.dataType)
    case part         => part.children.exists(readsInstant(_, column))
  }
}
