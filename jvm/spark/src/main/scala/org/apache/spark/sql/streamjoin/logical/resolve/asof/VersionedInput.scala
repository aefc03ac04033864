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
import org.apache.spark.sql.streamjoin.logical.plan.{
  ChangelogJoin,
  ChangelogMarks,
  ImposeOrder,
  SameRows,
  Versions
}
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
    if (ChangelogMarks.kind(changes.output).forall(ChangelogMarks.keySize(_) == 0))
      Some((
        "the changelog has no key by which a version is the next one of another",
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
        "the changelog is the result of a join, whose changes are not in the order of their times",
        "Join with each changelog in turn, or with a table that the changes were merged into"
      ))
    case p if Declaration.is(p) => None
    case Filter(condition, child) if condition.references.subsetOf(known(child)) =>
      dropping(child)
    case Filter(condition, _) =>
      Some((
        s"the filter ${ColumnNames.sql(condition)} would drop the change that ends a version",
        "Write it in the condition of the join, where the version at the time of the row must meet it; " +
          "or before the declaration, if such rows are no changes at all"
      ))
    case _: Project | _: EventTimeWatermark | _: ImposeOrder | SameRows(_) =>
      dropping(plan.children.head)
    case other =>
      Some((
        s"${OperatorName.name(other)} stands between the declaration of the changelog and the join",
        "Write a projection of columns there, or it on the input below the declaration"
      ))
  }

  /**
   * The columns by which a query may filter changes: the key, which is equal in all changes of a
   * row, and the row kind.
   */
  private def known(changes: LogicalPlan): AttributeSet =
    AttributeSet(ChangelogMarks.key(changes.output) ++ ChangelogMarks.kind(changes.output))
}
