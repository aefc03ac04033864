package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Attribute,
  AttributeSet,
  Expression,
  SortOrder
}
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  Partitioning,
  UnknownPartitioning
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.checkpoint.{StateFormat, StoredReference}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BatchInfo,
  JoinDistribution,
  JoinExec,
  StatefulBinaryExec,
  StoredLayout
}
import org.apache.spark.sql.streamjoin.physical.stateful.shown.OperatorMetrics
import org.apache.spark.sql.streamjoin.physical.stateful.times.JoinTimes

import io.streamjoin.model.Side

/**
 * Physical operator of the changelog join. It requires both inputs shuffled by the join key and
 * sorted by its hash, and runs one [[ChangelogTask]] in each partition. Append-only inputs need no
 * order. Without an equality in the condition, [[ChangelogSpec.routing]] distributes the rows.
 *
 * After each batch, the changes emitted so far add up to the join of the two current tables.
 * Example, orders LEFT JOIN customers by customer id, with the key `order_id` and the output
 * columns (order_id, amount, name):
 *
 * {{{
 *   batch   change of an input             emitted
 *   12:00   insert order 7, customer 1     insert            7, 20, NULL
 *   12:05   insert customer 1, Ann         update_preimage   7, 20, NULL
 *                                          update_postimage  7, 20, Ann
 *   12:10   update customer 1 to Anna      update_preimage   7, 20, Ann
 *                                          update_postimage  7, 20, Anna
 *   12:15   delete order 7                 delete            7, 20, Anna
 * }}}
 *
 * It is deterministic: a batch that runs again from the same state and offsets emits the same
 * changes. For the algorithm see [[io.streamjoin.join.changelog.ChangelogJoin]].
 */
class ChangelogJoinExec(
    leftInput: SparkPlan,
    rightInput: SparkPlan,
    batch: BatchInfo,
    val spec: ChangelogSpec
) extends StatefulBinaryExec(leftInput, rightInput, batch)
    with JoinExec {

  override def nodeName: String = "ChangelogJoin"

  override def simpleString(maxFields: Int): String =
    if (spec.normalizes) s"ChangelogJoin, ${spec.words.explanation.summary}"
    else s"ChangelogJoin ${spec.on.joinType.name}, ${spec.words.explanation.summary}"

  override protected def explained: Seq[String] = spec.words.explanation.lines

  override def output: Seq[Attribute] = spec.output.columns

  override def producedAttributes: AttributeSet = AttributeSet(spec.output.changes)

  override def requiredChildDistribution: Seq[Distribution] =
    JoinDistribution.required(spec.routing, spec.keys, spec.spread, getStateInfo.numPartitions)

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Side.both.map(byKeyHash)

  override def outputPartitioning: Partitioning =
    if (spec.on.equiKeys.isEmpty) UnknownPartitioning(getStateInfo.numPartitions)
    else partitionedAs(spec.on.joinType)

  /**
   * The output is sorted by the hash of the join key, as the inputs are. A join above with the same
   * key needs neither shuffle nor sort.
   */
  override def outputOrdering: Seq[SortOrder] = spec.on.joinType.always.map(byKeyHash) match {
    case Seq(left, right) =>
      for ((l, r) <- left.zip(right)) yield l.copy(sameOrderExpressions = Seq(r.child))
    case some => some.flatten
  }

  private def byKeyHash(side: Side): Seq[SortOrder] =
    if (spec.on.equiKeys.isEmpty || spec.appendOnly) Nil
    else Seq(SortOrder(KeyHash.of(spec.keys(side)), Ascending))

  // ---- tree ----

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): ChangelogJoinExec = batch.stateInfo match {
    case Some(info) if this.batch.stateInfo.isEmpty =>
      val filters = InputFilter.asBegun(spec.inputs.filters, descriptionAsBegun(info))
      new ChangelogJoinExec(
        InputFilter.over(left, Side.Left, filters),
        InputFilter.over(right, Side.Right, filters),
        batch,
        spec.copy(inputs = spec.inputs.copy(filters = filters))
      )
    case _ => new ChangelogJoinExec(left, right, batch, spec)
  }

  // ---- state ----

  override protected def description(format: StateFormat): String =
    DescribedChangelog.of(spec, format).json

  override private[streamjoin] def layout: Option[StoredLayout] =
    Some(new ChangelogLayout(spec, DescribedChangelog.of(spec, format)))

  override protected def storedColumns(side: Side): Seq[Attribute] = spec.side(side).storedColumns

  override protected def identifying: Seq[(String, Expression)] =
    DescribedChangelog.identifying(spec)

  override private[streamjoin] def storedReferences: Seq[StoredReference] =
    super.storedReferences ++ DescribedChangelog.readByInputs(spec)

  /** None: output rows may have any event time. */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = None

  override protected def joinTimes: JoinTimes = spec.times

  override protected def alias(side: Side): Option[String] = spec.words.aliases.get(side)

  // ---- execution ----

  override protected def doExecute(): RDD[InternalRow] = {
    // logged once, in the first batch of a checkpoint
    if (getStateInfo.storeVersion == 0 && spec.words.forEver.nonEmpty) {
      logWarning(
        s"${simpleString(0)}: ${spec.words.forEver.mkString("; ")}. To limit it, set state_ttl, " +
          "or write a bound between watermarked times of both inputs in the condition."
      )
    }
    val (of, state, counts) = (spec, partitionState, report)
    joined(new ChangelogTask(_, of, _, state, counts))
  }

  override protected def figures: OperatorMetrics = ChangelogMetrics.figures
}
