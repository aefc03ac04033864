package org.apache.spark.sql.streamjoin.logical.plan.options

import java.util.UUID

import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.NearestWord
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}

import io.streamjoin.model.{BySide, Side}

/**
 * The options of one join beside its condition and type. They travel in the plan from the call or
 * the SQL text to the operator: [[StreamJoinHint]], then [[StreamJoin]].
 *
 * A new option is a field here and an entry in [[JoinOptions.entries]].
 *
 * @param retention how long rows are buffered that the condition does not bound: an interval, or a
 *   whole number, as text; none: the setting of the session
 * @param emitLate whether late rows are emitted with a column for the reason, instead of dropped
 * @param mode `event_time` or `changelog`; none: determined by the inputs
 * @param emit `final` or `early`; none: determined by the mode. A changelog join, which evicts rows
 *   by watermark, emits early results and corrects them later
 * @param ttl the time to live of the rows of a side after they were written, as text
 * @param retractsExpired whether the expiry of a row retracts its results
 * @param last whether each left row is joined with the last right row only, see [[AsOfJoin]]
 * @param hint identifies the hint of the options; joins of one SELECT share a hint
 */
final case class JoinOptions(
    retention: Option[String] = None,
    emitLate: Boolean = false,
    mode: Option[String] = None,
    emit: Option[String] = None,
    ttl: BySide[Option[String]] = BySide(None, None),
    retractsExpired: Boolean = false,
    last: Boolean = false,
    hint: Option[UUID] = None
) {

  /** Whether the join has output columns that no input has. */
  def addsColumns: Boolean = emitLate || isChangelog

  /** The options that were set, for `explain`. */
  def words: String = Seq(
    retention.map(r => s"retention $r"),
    Option.when(emitLate)("late emit"),
    mode.map(m => s"mode $m"),
    emit.map(e => s"emit $e"),
    ttl.left.map(t => s"state_ttl left $t"),
    ttl.right.map(t => s"state_ttl right $t"),
    Option.when(retractsExpired)("on_expiry retract"),
    Option.when(last)("match last")
  ).flatten.mkString(", ")

  /** The text in a plan. Options that were not set change no plan. */
  override def toString: String = s"JoinOptions($words)"

  /** Whether rows of some side expire. */
  def hasTtl: Boolean = Side.both.exists(ttl(_).nonEmpty)

  /** Whether the join is a [[ChangelogJoin]]. */
  def isChangelog: Boolean = mode.contains(JoinOptions.Changelog) || emitsEarly

  /** Whether unmatched rows are emitted at once, and corrected later. */
  def emitsEarly: Boolean = emit.contains(JoinOptions.Early)
}

object JoinOptions {

  val EventTime: String = "event_time"
  val Changelog: String = "changelog"

  val Final: String = "final"
  val Early: String = "early"

  /**
   * An option: its values, one of them as an SQL example, and the function that reads a value. The
   * function returns none for an invalid value.
   */
  private final case class Entry(
      name: String,
      values: String,
      example: String,
      read: (JoinOptions, OptionValue) => Option[JoinOptions]
  )

  /** An option whose value is the default word or another one, which is the example. */
  private def either(name: String, default: String, other: String)(
      set: (JoinOptions, String) => JoinOptions
  ): Entry = Entry(
    name,
    s"'$default' or '$other'",
    s"'$other'",
    (options, value) => value.word(default, other).map(set(options, _))
  )

  private val entries: Seq[Entry] = Seq(
    either("late", "drop", "emit")((o, word) => o.copy(emitLate = word == "emit")),
    Entry(
      "retention",
      "an interval such as '1 hour', or a whole number where event times are numbers",
      "'1 hour'",
      (options, value) => value.distance.map(kept => options.copy(retention = Some(kept)))
    ),
    either("mode", EventTime, Changelog)((o, word) => o.copy(mode = Some(word))),
    either("emit", Final, Early)((o, word) => o.copy(emit = Some(word))),
    Entry(
      "state_ttl",
      "an interval such as '30 days', for both inputs, or map('right', '30 days')",
      "'30 days'",
      (options, value) => value.bySide.map(ttl => options.copy(ttl = ttl))
    ),
    either("on_expiry", "keep", "retract")((o, word) =>
      o.copy(retractsExpired = word == "retract")
    ),
    either("match", "all", "last")((o, word) => o.copy(last = word == "last"))
  )

  val names: Seq[String] = entries.map(_.name)

  /** Refuses the options of a join, and suggests others. */
  def refusal(reason: String, instead: String*)(origin: Origin): StreamJoinAnalysisException = {
    val suggested = if (instead.isEmpty) Seq("late") else instead
    val examples = suggested.flatMap(name => entries.filter(_.name == name))
    StreamJoinErrors.analysis(
      "INVALID_OPTION",
      origin,
      "reason" -> reason,
      "sql" -> examples.map(e => s"${e.name} => ${e.example}").mkString(", "),
      "keywords" -> examples.map {
        case e if e.name == "match" => "how=\"asof\""
        case e                      => s"${e.name}=${e.example.replace('\'', '"')}"
      }.mkString(", ")
    )
  }

  /**
   * The options of one hint or call. An option that is NULL counts as not set.
   *
   * @throws StreamJoinAnalysisException `STREAM_JOIN.INVALID_OPTION` for an unknown or duplicate
   *   name, or an invalid value
   */
  def of(arguments: Seq[OptionValue], origin: Origin): JoinOptions = {
    arguments.map(_.name).diff(names).headOption.foreach { name =>
      val near = entries.find(e => NearestWord.of(name, names).contains(e.name))
      throw refusal(
        if (names.contains(name)) s"the option $name is given twice"
        else
          s"there is no option $name, but " +
            near.fold(names.mkString(", "))(e => s"${e.name}, which is ${e.values}"),
        near.fold(names.head)(_.name)
      )(origin)
    }
    val none = JoinOptions(hint = Some(UUID.randomUUID()))
    arguments.filterNot(_.isNull).foldLeft(none) { (options, value) =>
      val entry = entries.find(_.name == value.name).get
      entry.read(options, value).getOrElse(
        throw refusal(
          s"the option ${entry.name} is ${entry.values}, not ${value.value.sql}",
          entry.name
        )(origin)
      )
    }
  }
}
