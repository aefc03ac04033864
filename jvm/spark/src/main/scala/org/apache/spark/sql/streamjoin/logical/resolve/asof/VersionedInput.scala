package org.apache.spark.sql.streamjoin.logical.resolve.asof

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  EqualTo,
  Expression,
  Literal,
  Not
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.logical.plan.SameRows
import org.apache.spark.sql.streamjoin.logical.plan.changes.{ChangelogMarks, Versions}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ChangelogJoin, ImposeOrder}
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.{
  CarriedSequence,
  Declaration,
  OperatorName
}

import io.streamjoin.join.changelog.ChangeKind

/**
 * A changelog as the build side of an as-of join.
 *
 * {{{
 *   insert, update_postimage   a version
 *   update_preimage            filtered out: the postimage ends the version
 *   delete                     a row that ends the version
 * }}}
 *
 * @param plan the input of the join: without preimages, with a flag instead of the row kind
 * @param versions the columns of the versions
 */
private[asof] final case class VersionedInput(plan: LogicalPlan, versions: Versions)

private[asof] object VersionedInput {

  /** The reason for a refusal, and what to write instead. */
  type Misfit = (String, String)

  /**
   * @param probe the other input. It may have the sequence as well, from another join with the same
   *   changelog
   */
  def of(changes: LogicalPlan, probe: LogicalPlan): Either[Misfit, VersionedInput] =
    misfit(changes).toLeft(versioned(changes, probe))

  private def versioned(changes: LogicalPlan, probe: LogicalPlan): VersionedInput = {
    val input = CarriedSequence.apart(probe, CarriedSequence.of(changes).getOrElse(changes))
    val kind = ChangelogMarks.kind(input.output).get
    def is(name: String): Expression = EqualTo(kind, Literal(name))
    val plan = Project(
      input.output.filterNot(_.exprId == kind.exprId) :+
        Alias(is(ChangeKind.Delete.name), "_deleted")(),
      Filter(Not(is(ChangeKind.Preimage.name)), input)
    )
    val sequence = ChangelogMarks.sequence(input.output)
    VersionedInput(
      plan,
      Versions(
        plan.output.last,
        ChangelogMarks.key(input.output),
        sequence,
        carried = sequence.exists(!changes.outputSet.contains(_))
      )
    )
  }

  private def misfit(changes: LogicalPlan): Option[Misfit] = {
    val key = ChangelogMarks.key(changes.output)
    if (!ChangelogMarks.isKeyed(changes.output))
      Some((
        "the changelog has no key, which identifies the versions of a row",
        "Declare the key: fromChangelog(key=\"currency\"), fromUpserts or fromDebezium"
      ))
    else if (key.isEmpty) {
      val names = declaredKey(changes).map(ColumnNames.of).mkString(", ")
      Some((s"the key $names of the changelog is not among the columns", s"Keep $names"))
    } else dropping(changes)
  }

  private def declaredKey(plan: LogicalPlan): Seq[Attribute] =
    if (Declaration.is(plan)) ChangelogMarks.key(plan.output)
    else plan.children.flatMap(declaredKey)

  /**
   * Refuses operators that may drop the change that ends a version. A condition of the join has no
   * such effect: it is evaluated on the last version.
   */
  private def dropping(plan: LogicalPlan): Option[Misfit] = plan match {
    case _: ChangelogJoin =>
      Some((
        "the changelog is the output of a join, whose changes are not ordered by time",
        "Join with each changelog separately, or with a table into which the changes are merged"
      ))
    case p if Declaration.is(p) => None
    case Filter(condition, child) if condition.references.subsetOf(known(child)) =>
      dropping(child)
    case Filter(condition, _) =>
      Some((
        s"the filter ${ColumnNames.sql(condition)} would drop the change that ends a version",
        "Write the filter in the condition of the join, which evaluates it on the version at " +
          "the time of the row. Or write it below the declaration, if such rows are not changes"
      ))
    case _: Project | _: EventTimeWatermark | _: ImposeOrder | SameRows(_) =>
      dropping(plan.children.head)
    case other =>
      Some((
        s"${OperatorName.name(other)} is between the declaration of the changelog and the join",
        "Only select columns there, or move this operator below the declaration"
      ))
  }

  /**
   * The columns by which a query may filter changes: the key, which is equal in all changes of a
   * row, and the row kind.
   */
  private def known(changes: LogicalPlan): AttributeSet =
    AttributeSet(ChangelogMarks.key(changes.output) ++ ChangelogMarks.kind(changes.output))
}
