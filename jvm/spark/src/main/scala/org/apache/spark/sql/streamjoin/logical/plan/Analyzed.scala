package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/** A node that needs the analysis of a condition. Its copies share their analyses. */
private[streamjoin] trait Analyzed extends LogicalPlan {

  /** All that the analysis depends on. */
  protected def question: JoinQuestion

  /** Keys, bounds, time zones and watermarks that follow from the condition. Valid once resolved. */
  @transient final lazy val analysis: JoinAnalysis = analyses.of(question)

  private def analyses: RecentAnalyses = getTagValue(Analyzed.Recent).getOrElse {
    val none = new RecentAnalyses
    setTagValue(Analyzed.Recent, none)
    none
  }
}

private object Analyzed {

  /** Spark copies tags with nodes. */
  private val Recent = TreeNodeTag[RecentAnalyses]("streamjoin.analyzed")
}
