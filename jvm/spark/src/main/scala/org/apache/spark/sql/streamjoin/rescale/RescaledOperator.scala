package org.apache.spark.sql.streamjoin.rescale

import org.apache.spark.sql.types.StructType

import io.streamjoin.model.BySide
import io.streamjoin.placement.Routing

/**
 * An operator whose rows get other partitions, as tasks need it.
 *
 * @param format name of its state format
 * @param from the old number of partitions
 * @param to the new one
 * @param rows columns of each side's rows
 * @param keys for each side, the readings of the stored keys that are possible
 */
private[rescale] final case class RescaledOperator(
    number: Long,
    format: String,
    routing: Routing,
    from: Int,
    to: Int,
    rows: BySide[StructType],
    keys: BySide[Seq[KeyReading]]
)
