package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/** A logical node that requires the analysis of a condition. */
private[streamjoin] trait Analyzed extends LogicalPlan {

  /** All inputs of the analysis. */
  protected def question: JoinQuestion

  /**
   * Keys, bounds, time zones and watermarks that follow from the condition. Valid once resolved.
   */
  @transient final lazy val analysis: JoinAnalysis = analyses.of(question)

  private def analyses: RecentAnalyses = getTagValue(RecentAnalyses.Tag).getOrElse {
    val none = new RecentAnalyses
    setTagValue(RecentAnalyses.Tag, none)
    none
  }
}

/**
 * Cache of the last analyses of a node and its copies. The optimizer copies a join many times, and
 * repeats its steps in every batch.
 */
private[plan] final class RecentAnalyses {
  private var recent: List[JoinAnalysis] = Nil

  def of(question: JoinQuestion): JoinAnalysis = synchronized {
    val analysis = recent.find(_.question == question).getOrElse(JoinAnalysis.of(question))
    recent = analysis :: recent.filterNot(_ eq analysis).take(RecentAnalyses.Kept - 1)
    analysis
  }
}

private object RecentAnalyses {

  /** Spark copies tags with nodes. */
  val Tag: TreeNodeTag[RecentAnalyses] = TreeNodeTag("streamjoin.analyzed")

  /** More than the forms of one join between analysis and physical plan. */
  val Kept = 8
}
