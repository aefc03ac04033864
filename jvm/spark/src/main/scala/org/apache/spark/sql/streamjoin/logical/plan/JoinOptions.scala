package org.apache.spark.sql.streamjoin.logical.plan

import java.util.UUID

import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

/**
 * What a person asks of one join beside its condition and type. It travels in the plan, from the call
 * or the SQL text to the operator: [[StreamJoinHint]], then [[StreamJoin]].
 *
 * A new option is a field here and a line in [[JoinOptions.readers]].
 *
 * @param retention for how long rows are kept that the condition does not bound: an interval, or a
 *   whole number, as text; none: as the session says
 * @param emitLate whether late rows come out, with a column that says why, instead of being dropped
 * @param hint the hint by which they came: joins of one SELECT share it
 */
final case class JoinOptions(
    retention: Option[String] = None,
    emitLate: Boolean = false,
    hint: Option[UUID] = None
) {

  /** Whether columns come out of the join that none of its inputs has. */
  def addsColumns: Boolean = emitLate
}

object JoinOptions {

  private type Reader = (JoinOptions, OptionValue) => JoinOptions

  /** For each option its name, the values it takes, and what becomes of one. */
  private val readers: Seq[(String, String, Reader)] = Seq(
    (
      "late",
      "'drop' or 'emit'",
      (options, value) => options.copy(emitLate = value.word("drop", "emit") == "emit")
    ),
    (
      "retention",
      "an interval such as '1 hour', or a whole number where event times are numbers",
      (options, value) => options.copy(retention = Some(value.distance))
    )
  )

  /** The options that there are, with their values, for the text of an error. */
  val allowed: String =
    readers.map { case (name, values, _) => s"$name ($values)" }.mkString(", ")

  /**
   * The options of one hint or call; those that are NULL count as not given.
   *
   * @throws StreamJoinAnalysisException `STREAM_JOIN.INVALID_OPTION` for a name that is unknown or
   *   there twice, and for a value that it does not take
   */
  def of(arguments: Seq[OptionValue], origin: Origin): JoinOptions = {
    arguments.map(_.name).diff(readers.map(_._1)).headOption.foreach { name =>
      val reason =
        if (readers.exists(_._1 == name)) s"the option $name is there twice"
        else s"there is no option $name"
      throw StreamJoinErrors.invalidOption(origin, reason, allowed)
    }
    arguments.filterNot(_.isNull).foldLeft(JoinOptions(hint = Some(UUID.randomUUID()))) {
      (options, value) =>
        readers.collectFirst { case (value.name, _, read) => read(options, value) }.get
    }
  }
}
