package org.apache.spark.sql.streamjoin.api

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, Literal}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.Version
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions

/**
 * SQL function `streamjoin_version()`: the version of the jar. Clients of Spark Connect call it,
 * since a server without the jar only warns of unknown hints.
 */
private[streamjoin] object VersionFunction {

  type Description = (FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression)

  val name: String = "streamjoin_version"

  val description: Description = (
    FunctionIdentifier(name),
    new ExpressionInfo(getClass.getName.stripSuffix("$"), name),
    arguments => {
      if (arguments.nonEmpty) {
        throw QueryCompilationErrors.wrongNumArgsError(name, Seq(0), arguments.length)
      }
      if (SQLConf.get.getConf(SQLConf.DISABLE_HINTS)) throw withoutHints
      Literal(Version.current)
    }
  )

  private def withoutHints = JoinOptions.refusal(
    "joins and orders need hints, but Spark drops all hints because of " +
      s"${SQLConf.DISABLE_HINTS.key}"
  )(CurrentOrigin.get)
}
