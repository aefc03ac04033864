package org.apache.spark.sql.streamjoin.spark

/** What `DataFrame.join` of this version of Spark does with the analyzed plan of its join. */
private[streamjoin] object DataFrameJoins {

  /**
   * Whether it casts that plan to Spark's own `Join`. If so, the join remains one until another
   * operator is above it.
   */
  val castToJoin: Boolean = false
}
