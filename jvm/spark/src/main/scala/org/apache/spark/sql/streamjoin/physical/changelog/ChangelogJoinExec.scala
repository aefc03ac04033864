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
import org.apache.spark.sql.streamjoin.checkpoint.{JoinDescription, StateFormat}
import org.apache.spark.sql.streamjoin.logical.plan.KeyHash
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.{
  BatchInfo,
  HandedProgram,
  JoinDistribution,
  JoinExec,
  JoinInputs,
  OperatorMetrics,
  StatefulBinaryExec
}
import org.apache.spark.sql.types.StructType

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Side

/**
 * The changelog join as a physical operator: both inputs shuffled by their join key and, unless rows only
 * come, sorted by its hash, then [[ChangelogTask]] per partition. Without an equality see
 * [[ChangelogSpec.routing]].
 *
 * Deterministic: a batch that is run again from the same state and offsets gives the same changes.
 */
class ChangelogJoinExec(
    leftInput: SparkPlan,
    rightInput: SparkPlan,
    batch: BatchInfo,
    val spec: ChangelogSpec
) extends StatefulBinaryExec(leftInput, rightInput, batch)
    with JoinExec {

  override def nodeName: String = "ChangelogJoin"

  override def shortName: String = JoinDescription.Operator

  override def simpleString(maxFields: Int): String =
    if (spec.normalizes) s"ChangelogJoin, ${spec.words.summary}"
    else s"ChangelogJoin ${spec.on.joinType.name}, ${spec.words.summary}"

  override protected def explained: Seq[String] = spec.words.lines

  override def output: Seq[Attribute] = spec.output.columns

  override def producedAttributes: AttributeSet =
    AttributeSet(spec.output.changes ++ spec.output.added)

  override def requiredChildDistribution: Seq[Distribution] =
    JoinDistribution.required(spec.routing, spec.keys, spec.spread, getStateInfo.numPartitions)

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Side.both.map(byKeyHash)

  override def outputPartitioning: Partitioning =
    if (spec.on.equiKeys.isEmpty) UnknownPartitioning(getStateInfo.numPartitions)
    else partitionedAs(spec.on.joinType)

  /**
   * The same with another list of columns that come out.
   *
   * @param added which of them says whether a row comes
   */
  private[changelog] def giving(list: Seq[Attribute], added: Attribute): ChangelogJoinExec =
    new ChangelogJoinExec(
      left,
      right,
      batch,
      spec.copy(output = spec.output.copy(columns = list, added = Some(added)))
    )

  /** One join key comes out after another: a join above by the same key needs neither shuffle nor sort. */
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
      val filters = InputFilter.asBegun(spec.inputs.filters, info, session)
      new ChangelogJoinExec(
        InputFilter.over(left, Side.Left, filters),
        InputFilter.over(right, Side.Right, filters),
        batch,
        CheckpointedKeys(
          spec.copy(inputs = spec.inputs.copy(filters = filters)),
          info,
          session
        )
      )
    case _ => new ChangelogJoinExec(left, right, batch, spec)
  }

  override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, right, batch, spec)

  // ---- state ----

  override protected def description(format: StateFormat): String =
    DescribedChangelog.of(spec, format).json

  override protected def storedRows(side: Side): StructType = spec.side(side).stored

  /** Rows come out at any age. */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = None

  override protected def bases: Seq[BaseColumn] = spec.times.bases

  override protected def bounds: JoinBounds = spec.bounds

  override protected def times: IndexedSeq[Expression] = spec.times.expressions

  override protected def alias(side: Side): Option[String] = spec.words.aliases.get(side)

  // ---- execution ----

  private[changelog] def program: ChangelogProgram = new ChangelogProgram(spec)

  override protected def doExecute(): RDD[InternalRow] = {
    // once in the life of a checkpoint
    if (getStateInfo.storeVersion == 0 && spec.words.forEver.nonEmpty) {
      logWarning(
        s"${simpleString(0)}: ${spec.words.forEver.mkString("; ")}. state_ttl ends it, and so do watermarks " +
          "of both inputs with a bound between their times in the condition."
      )
    }
    val distribution = requiredChildDistribution
    val (l, r) = JoinInputs.shuffled(left, right, distribution)
    val arrived = arrivals("aheadRowsLeft" -> l, "aheadRowsRight" -> r)
    val task = new ChangelogTask(
      HandedProgram.of(getStateInfo, sparkContext, program),
      arrived,
      partitionState,
      report
    )
    val partitions = getStateInfo.numPartitions
    perPartition(
      JoinInputs.rows(l, distribution.head, partitions),
      JoinInputs.rows(r, distribution.last, partitions)
    )(task.run)
  }

  override protected def figures: OperatorMetrics = ChangelogJoinExec.Figures
}

object ChangelogJoinExec {

  private[physical] val Figures: OperatorMetrics = ChangelogMetrics.figures
}
