package org.apache.spark.sql.streamjoin.logical.plan

/**
 * The last analyses of a join and its copies: the optimizer copies a join many times, and makes the
 * same of it in every batch.
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

  /** More than the forms that a join goes through from its analysis to its plan. */
  private val Kept = 8
}
