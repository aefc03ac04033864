package org.apache.spark.sql.streamjoin.spark

/** How `DataFrame.join` of this version of Spark goes on with the plan that the analyzer returns for its join. */
private[streamjoin] object DataFrameJoins {

  /** Whether it casts that plan to Spark's own `Join`, so that the join has to stay one until an operator is on it. */
  val castToJoin: Boolean = false
}
