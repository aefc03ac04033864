package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions.{EvalMode, NumericEvalContext}

/** The overflow behavior of sums, differences and products. */
private[streamjoin] object Arithmetic {

  type Context = NumericEvalContext

  val ansi: Context = NumericEvalContext(EvalMode.ANSI)

  def mode(context: Context): EvalMode.Value = context.evalMode
}
