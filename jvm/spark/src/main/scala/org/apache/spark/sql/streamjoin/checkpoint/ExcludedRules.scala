package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}
import org.json4s._
import org.json4s.JsonDSL._

/**
 * The excluded rules of Spark's optimizer, as stored in the description of an operator.
 *
 * Optimizer rules decide which columns are stored (`ColumnPruning`) and how the stored condition of
 * a changelog join is written (`ConstantFolding`). With other rules, a query may not fit its own
 * checkpoint.
 */
private[streamjoin] object ExcludedRules {

  /** Name of the part of the description; absent if no rule is excluded. */
  val Part: String = "excludedRules"

  private val Setting = SQLConf.OPTIMIZER_EXCLUDED_RULES

  def part: JObject = Part -> Option(now).filter(_.nonEmpty)

  /**
   * Adds the setting to the refusal of a comparison, if the excluded rules have changed.
   *
   * @param written stored description of the operator
   */
  def hinted[T](written: String)(comparison: => T): T =
    try comparison
    catch {
      case e: StreamJoinRuntimeException
          if StateErrors.isIncompatible(e) && before(written) != now =>
        throw StateErrors.withHint(
          e,
          s"${Setting.key} was '${before(written)}' when the checkpoint was written, and is " +
            s"'$now' now. Stored columns and conditions depend on it. If the query is the same, " +
            "restore this setting"
        )
    }

  private def before(written: String): String =
    JoinDescription.fields(written).get(Part).fold("")(JoinDescription.shown)

  private def now: String = SQLConf.get.getConf(Setting).fold("") { rules =>
    rules.split(',').map(_.trim).filter(_.nonEmpty).distinct.sorted.mkString(",")
  }
}
