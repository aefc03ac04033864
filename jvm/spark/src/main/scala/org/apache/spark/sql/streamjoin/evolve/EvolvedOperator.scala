package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.rewrite.{RowReader, StateWriter}

/**
 * What is written for one operator of the changed query.
 *
 * @param told the lines about it
 */
private[evolve] final case class EvolvedOperator(
    now: ChangedOperator,
    reader: RowReader[_],
    contents: Seq[StateWriter.Contents],
    told: Seq[String]
)
