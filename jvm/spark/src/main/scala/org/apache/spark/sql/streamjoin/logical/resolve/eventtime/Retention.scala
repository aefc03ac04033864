package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.conditions.RetentionLimit
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.MissingBound
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{Distance, Distances}
import org.apache.spark.sql.streamjoin.{ColumnNames, StreamJoinConf}

/**
 * Adds the bounds that a condition lacks, if the query or the session sets a retention. The result
 * is that of a batch join with the added inequalities.
 */
private[streamjoin] object Retention {

  def limit(join: StreamJoin): StreamJoin =
    asked(join).fold(join) { case (name, retention) =>
      val missing = MissingBound.of(join).map(inequality(_, name, retention))
      join.copy(condition = (join.condition +: missing).reduce(And(_, _)))
    }

  /** The source of the retention and its value. */
  private def asked(join: StreamJoin): Option[(String, String)] = {
    def setting = SQLConf.get.getConf(StreamJoinConf.Retention)
    join.options.retention
      .map("retention" -> _)
      .orElse(setting.map(s"setting ${StreamJoinConf.Retention.key}" -> _))
  }

  private def inequality(missing: MissingBound, name: String, retention: String): Expression = {
    val column = missing.later.column
    val (distances, distance) = (new Distances(name, column, column.origin), Distance.of(retention))
    if (distances.inUnits(distance) == 0) {
      throw distances.refusal(
        distance.text,
        "it is zero in the unit of the column, so no later row could match",
        s"a longer one. For rows of equal times, compare them in the condition: " +
          s"${ColumnNames.of(missing.earlier.column)} = ${ColumnNames.of(column)}"
      )
    }
    RetentionLimit(
      distances.notBefore(missing.later.expression, missing.earlier.expression, distance)
    )
  }
}
