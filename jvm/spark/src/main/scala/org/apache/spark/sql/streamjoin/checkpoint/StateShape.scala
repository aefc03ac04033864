package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.Side
import io.streamjoin.state.Watched

/**
 * Properties of the rows that a format stores.
 *
 * @param schema columns of each side's rows
 * @param limits number of limits of a row of each side
 * @param span largest distance between the first limits of the rows of one segment
 * @param limitsOf limits of a row, which may depend on its matched flag
 * @param timeIndex whether rows of a side are often probed by key and one time. Without an index,
 *   such a probe visits all rows of the key
 * @param watched further numbers of a row whose minimum is required. Only resident state maintains
 *   it
 * @param renewed whether stored limits of a side may differ from those of `limitsOf`. This is the
 *   case if the query restarts with another TTL
 */
private[streamjoin] final case class StateShape(
    schema: Side => StructType,
    limits: Side => Int,
    span: Side => Long,
    limitsOf: (Side, UnsafeRow, Boolean) => Array[Long],
    timeIndex: Side => Boolean = _ => false,
    watched: Side => Watched[UnsafeRow] = _ => Watched.nothing[UnsafeRow],
    renewed: Side => Boolean = _ => false
)
