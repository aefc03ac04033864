package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedSubqueryColumnAliases}
import org.apache.spark.sql.catalyst.expressions.{
  CreateMap,
  Expression,
  Literal,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Filter,
  Join,
  LogicalPlan,
  SubqueryAlias,
  UnaryNode,
  UnresolvedHint
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}
import org.apache.spark.sql.streamjoin.errors.{ChangelogErrors, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  StreamJoinHint,
  UnresolvedChangelog,
  UnresolvedImposeOrder
}
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, OptionValue}
import org.apache.spark.sql.types.StringType

/**
 * Resolves the hints with options of a join or an order, in classic sessions, Spark Connect and
 * SQL. Spark's grammar and DataFrame have no other place for these options.
 *
 *  - `left.hint("stream_join", "late=emit", "retention=1 hour").join(right, ...)` applies to this
 *    join.
 *  - `SELECT /*+ STREAM_JOIN(late => 'emit') */ ...` applies to all joins in FROM of this SELECT.
 *    If FROM has no join, it applies to EXISTS and IN in WHERE.
 *  - `df.hint("impose_order", "order_time", "1 minute", "max_ahead=1 hour")` is `IMPOSE_ORDER` of
 *    `df`.
 *  - `df.hint("from_changelog", "key=id", "op=kind")`, `from_upserts`, `from_debezium` and
 *    `to_upserts` declare changelogs.
 */
object ResolveStreamHints extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case h: UnresolvedHint if isCalled(h, "stream_join") =>
      CurrentOrigin.withOrigin(h.origin) {
        h.parameters match {
          case Seq(StreamHintWords.Select(arguments)) =>
            asked(h.child, options(arguments, h.origin))
          case arguments => StreamJoinHint(options(arguments, h.origin), held = false, h.child)
        }
      }
    case h: UnresolvedHint if StreamHintWords.isMisspelt(h.name) =>
      throw StreamHintWords.misspelt(h.origin, h.name)
    case h: UnresolvedHint if isCalled(h, "impose_order") =>
      CurrentOrigin.withOrigin(h.origin)(order(h))
    case h: UnresolvedHint if ofChangelogs.exists(isCalled(h, _)) =>
      CurrentOrigin.withOrigin(h.origin)(changelog(h))
  }

  private def isCalled(h: UnresolvedHint, name: String): Boolean =
    h.name.toLowerCase(Locale.ROOT) == name

  private def options(arguments: Seq[Expression], origin: Origin): JoinOptions =
    JoinOptions.of(
      arguments.map { a =>
        OptionValue.written(a).getOrElse(
          throw invalid(origin, s"${a.sql} is not an option, which has a name and a value")
        )
      },
      origin
    )

  /**
   * Adds the options to each join in FROM of a SELECT. If FROM has no join, adds them to the
   * subqueries in its WHERE.
   */
  private def asked(select: LogicalPlan, options: JoinOptions): LogicalPlan = {
    var found = false
    def within(plan: LogicalPlan): LogicalPlan = plan match {
      case j: Join =>
        found = true
        if (StreamJoinHint.options(j).nonEmpty) {
          throw invalid(CurrentOrigin.get, "the SELECT has two STREAM_JOIN hints")
        }
        val inputs = j.mapChildren(within).asInstanceOf[Join]
        inputs.withNewChildren(
          Seq(StreamJoinHint(options, held = false, inputs.left), inputs.right)
        )
      case _: SubqueryAlias | _: UnresolvedSubqueryColumnAliases => plan
      case clause: UnaryNode                                     => clause.mapChildren(within)
      case relation                                              => relation
    }
    def ofWhere(plan: LogicalPlan): LogicalPlan = plan match {
      case Filter(condition, relation) if condition.exists(_.isInstanceOf[SubqueryExpression]) =>
        found = true
        Filter(condition, StreamJoinHint(options, held = false, relation))
      case _: SubqueryAlias | _: UnresolvedSubqueryColumnAliases => plan
      case clause: UnaryNode                                     => clause.mapChildren(ofWhere)
      case relation                                              => relation
    }
    val ofFrom = within(select)
    val marked = if (found) ofFrom else ofWhere(select)
    if (!found) throw invalid(CurrentOrigin.get, "FROM of this SELECT has no join")
    marked
  }

  private def order(h: UnresolvedHint): LogicalPlan = h.parameters match {
    case Seq(Literal(column, StringType), lag, more @ _*) =>
      val options = more.map(a => OptionValue.written(a).getOrElse(throw unknown(a.sql)))
      val (per, single) = options.partition(_.name == "per")
      single.map(_.name).diff(ImposeOrderOptions).headOption.foreach(name => throw unknown(name))
      def option(name: String) = options.find(_.name == name).map(_.value)
      UnresolvedImposeOrder(
        UnresolvedAttribute.parseAttributeName(column.toString),
        lag,
        option("idle_timeout"),
        option("max_ahead"),
        option("ahead"),
        per.flatMap(o => FunctionArguments.columns(o.value).getOrElse(throw unknown(o.value.sql))),
        h.child
      )
    case _ =>
      throw StreamJoinErrors.wrongUse(
        h.origin,
        "as a hint it requires the name of the column, the lag, and options such as " +
          "'max_ahead=1 hour'"
      )
  }

  /** Each is written at most once. `per` is written once for each of its columns. */
  private val ImposeOrderOptions = Seq("idle_timeout", "max_ahead", "ahead")

  private def unknown(option: String) =
    StreamJoinErrors.wrongUse(
      CurrentOrigin.get,
      s"it has no option $option, or has it twice. Its options are " +
        s"${ImposeOrderOptions.mkString(", ")} and per"
    )

  private def invalid(origin: Origin, reason: String) =
    JoinOptions.refusal(reason)(origin)

  // ---- changelogs ----

  private val columnOptions = Set("key", "op", "value", "sequence_by")

  private val ofChangelogs = Seq("from_changelog", "from_upserts", "from_debezium", "to_upserts")

  /**
   * A hint that declares a changelog. Spark Connect clients write it, which have only Spark's
   * DataFrame, and so does the Python package in a classic session.
   *
   * Its options are strings: `'key=id'` once for each column of the key, `'op=...'`, `'value=...'`,
   * `'sequence_by=...'`, and `'op_mapping=word=kind'` once for each word. They may also be named
   * arguments. The condition `deletes` of `from_upserts` is an expression.
   */
  private def changelog(h: UnresolvedHint): LogicalPlan = {
    val (written, deletes) = h.parameters.partition(OptionValue.written(_).nonEmpty)
    val options = written.flatMap(OptionValue.written).map { option =>
      val text = option.word(option.value.toString).getOrElse(throw unknownOf(h, option.value.sql))
      if (!columnOptions(option.name) && option.name != "op_mapping")
        throw unknownOf(h, option.name)
      option.name -> text
    }
    val words = options.collect { case ("op_mapping", pair) => word(h, pair) }.flatten
    UnresolvedChangelog(
      h.name.toLowerCase(Locale.ROOT),
      options.filter(o => columnOptions(o._1)).groupMap(_._1)(_._2),
      Option.when(words.nonEmpty)(CreateMap(words)),
      deletes.headOption,
      h.child
    )
  }

  /** Splits at the last `=`, since a word may contain `=` and a kind may not. */
  private def word(h: UnresolvedHint, pair: String): Seq[Expression] = pair.lastIndexOf('=') match {
    case -1 => throw unknownOf(h, s"op_mapping=$pair")
    case at => Seq(Literal(pair.take(at)), Literal(pair.drop(at + 1)))
  }

  private def unknownOf(h: UnresolvedHint, option: String) =
    ChangelogErrors.invalidChangelog(
      h.origin,
      s"${h.name} as a hint has no option $option",
      "options such as 'key=id', 'sequence_by=updated_at', 'op_mapping=I=insert'"
    )
}
