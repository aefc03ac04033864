package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.plans.Cross
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.streamjoin.spark.DataFrameJoins

/**
 * Joins that DataFrame operations of Spark resolve in two steps. After the first step, Spark
 * expects its own node.
 */
private[analyzer] object TwoStepJoins {

  /** Whether Spark may expect its own node for this join. */
  def isExpected(j: Join): Boolean = isByNames(j) || j.condition.nonEmpty && isByCondition(j)

  /** Whether a join may be the first step of a join by column names, which adds its condition later. */
  def isByNames(j: Join): Boolean = j.condition.isEmpty && j.joinType != Cross

  /** Whether a join with a condition is resolved so: `df.join(df, ...)`, or each join on Spark 4.0. */
  def isByCondition(j: Join): Boolean = DataFrameJoins.castToJoin ||
    j.left.collectLeaves().exists(l => j.right.collectLeaves().exists(l.sameResult(_)))
}
