package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

/**
 * Descriptions of SQL syntax that looks like table functions, for `SHOW FUNCTIONS` and
 * `DESCRIBE FUNCTION`. Rules replace such calls before Spark looks up any function.
 */
private[streamjoin] object DescribedFunctions {

  type Description = (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan)

  val all: Seq[Description] = Seq(
    described(
      "impose_order",
      "_FUNC_(TABLE(t), DESCRIPTOR(c), lag [, idle_timeout [, max_ahead [, ahead [, per]]]]) - The rows " +
        "of t, with a watermark on the event time c: the largest value seen minus lag.",
      "lag - an interval without months, or a whole number if c is a number",
      "idle_timeout - how long other inputs wait for an input without rows",
      "max_ahead - a time further ahead of the clock does not advance the watermark",
      "ahead - 'reject' drops a row with such a time, 'keep' joins it",
      "per - columns of groups, each with a watermark; that of c is the least of them"
    )("SELECT * FROM _FUNC_(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE);"),
    described(
      "from_changelog",
      "_FUNC_(TABLE(t), key => DESCRIPTOR(k), op => DESCRIPTOR(op), op_mapping => MAP(...), sequence_by " +
        "=> DESCRIPTOR(s)) - The rows of t as a changelog with a row kind.",
      "key - identifies a row. Without a key, the whole row does",
      "op - the column with the row kind. Default: _change_type",
      "op_mapping - maps all values of op to row kinds",
      "sequence_by - orders the changes of a key; the largest value wins"
    )(
      "SELECT * FROM _FUNC_(TABLE(orders), key => DESCRIPTOR(id), op => DESCRIPTOR(op), op_mapping => " +
        "MAP('I', 'insert', 'D', 'delete'));"
    ),
    described(
      "from_upserts",
      "_FUNC_(TABLE(t), DESCRIPTOR(k), DESCRIPTOR(s), deletes => condition) - The rows of t as " +
        "upserts, with the latest version of each key by s.",
      "deletes - a row for which the condition is true deletes its key"
    )(
      "SELECT * FROM _FUNC_(TABLE(orders), DESCRIPTOR(id), DESCRIPTOR(version), deletes => closed);"
    ),
    described(
      "from_debezium",
      "_FUNC_(TABLE(t), DESCRIPTOR(k), value => DESCRIPTOR(v), sequence_by => 's') - The " +
        "Debezium messages in t as a changelog.",
      "value - the column with the messages, parsed by from_json. Default: value",
      "sequence_by - a field of the message that increases with each change of a key"
    )("SELECT * FROM _FUNC_(TABLE(messages), DESCRIPTOR(id), sequence_by => 'source.lsn');")
  )

  val names: Seq[String] = all.map(_._1.funcName)

  private def described(
      name: String,
      usage: String,
      arguments: String*
  )(example: String): Description = (
    FunctionIdentifier(name),
    new ExpressionInfo(
      getClass.getName.stripSuffix("$"),
      null,
      name,
      usage,
      arguments.mkString("\n    Arguments:\n      * ", "\n      * ", "\n  "),
      s"\n    Examples:\n      > $example\n  ",
      "",
      "",
      "",
      "",
      ""
    ),
    (_: Seq[Expression]) =>
      throw StreamJoinErrors.wrongUse(
        CurrentOrigin.get,
        s"$name is a table function, which " +
          "belongs in FROM of a query"
      )
  )
}
