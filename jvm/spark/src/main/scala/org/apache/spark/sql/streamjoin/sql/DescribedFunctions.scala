package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

/**
 * The words of SQL that look like table functions, for `SHOW FUNCTIONS` and `DESCRIBE FUNCTION`. Rules
 * take them up before Spark calls any function.
 */
private[streamjoin] object DescribedFunctions {

  type Description = (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan)

  val all: Seq[Description] = Seq(
    described(
      "impose_order",
      "_FUNC_(TABLE(t), DESCRIPTOR(c), lag [, idle_timeout [, max_ahead [, ahead]]]) - The rows of t, of " +
        "which c is an event time with a watermark of its own: the largest value seen minus lag."
    ),
    described(
      "from_changelog",
      "_FUNC_(TABLE(t), key => DESCRIPTOR(k), op => DESCRIPTOR(op), op_mapping => MAP(...), sequence_by " +
        "=> DESCRIPTOR(s)) - The rows of t as changes, of which each has its kind."
    ),
    described(
      "from_upserts",
      "_FUNC_(TABLE(t), DESCRIPTOR(k), DESCRIPTOR(s), deletes => condition) - The rows of t as the latest " +
        "images of their keys, by s."
    ),
    described(
      "from_debezium",
      "_FUNC_(TABLE(t), DESCRIPTOR(k), value => DESCRIPTOR(v), sequence_by => 's') - Debezium's messages " +
        "in t as changes."
    )
  )

  val names: Seq[String] = all.map(_._1.funcName)

  private def described(name: String, usage: String): Description = (
    FunctionIdentifier(name),
    new ExpressionInfo(
      getClass.getName.stripSuffix("$"),
      null,
      name,
      usage,
      "",
      "",
      "",
      "",
      "",
      "",
      ""
    ),
    (_: Seq[Expression]) =>
      throw StreamJoinErrors.wrongUse(CurrentOrigin.get, s"$name stands in FROM of a query")
  )
}
