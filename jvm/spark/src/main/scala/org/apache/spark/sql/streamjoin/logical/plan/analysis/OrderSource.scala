package org.apache.spark.sql.streamjoin.logical.plan.analysis

import java.util.UUID

/**
 * The sources of the rows of an imposed order.
 *
 * @param id the ID of its node
 * @param sources their places among the sources of the input
 */
private[streamjoin] final case class OrderSource(id: UUID, sources: Set[Int])
