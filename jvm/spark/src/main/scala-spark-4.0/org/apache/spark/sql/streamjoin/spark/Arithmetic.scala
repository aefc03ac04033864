package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions.EvalMode

/** The overflow behavior of sums, differences and products. */
private[streamjoin] object Arithmetic {

  type Context = EvalMode.Value

  val ansi: Context = EvalMode.ANSI

  def mode(context: Context): EvalMode.Value = context
}
