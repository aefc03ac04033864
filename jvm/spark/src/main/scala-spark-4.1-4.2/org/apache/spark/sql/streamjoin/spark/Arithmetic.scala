package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions.{EvalMode, NumericEvalContext}

/** How sums, differences and products treat overflow. */
private[streamjoin] object Arithmetic {

  type Context = NumericEvalContext

  val ansi: Context = NumericEvalContext(EvalMode.ANSI)

  def mode(context: Context): EvalMode.Value = context.evalMode
}
