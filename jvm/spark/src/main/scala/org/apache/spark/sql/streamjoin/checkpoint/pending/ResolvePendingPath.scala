package org.apache.spark.sql.streamjoin.checkpoint.pending

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Resolves ``SELECT * FROM `streamjoin-pending`.`/checkpoint` ``. Spark supports such paths for its
 * file formats only. Options are written as `WITH ('side' = 'left')`.
 */
private[streamjoin] final case class ResolvePendingPath(session: SparkSession)
    extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case u @ UnresolvedRelation(Seq(format, path), said, false)
        if format.equalsIgnoreCase(PendingOptions.Format) =>
      val options = new CaseInsensitiveStringMap(
        (said.asScala.toMap + ("path" -> path)).asJava
      )
      val table = PendingTable.of(session, PendingOptions.of(options))
      DataSourceV2Relation.create(table, None, None, options)
  }
}
