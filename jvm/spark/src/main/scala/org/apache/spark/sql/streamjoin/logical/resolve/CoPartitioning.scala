package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.{Expression, ScalarSubquery, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.execution.datasources.v2.{
  StreamingDataSourceV2Relation,
  StreamingDataSourceV2ScanRelation
}
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.{CoPartitioningErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.logical.plan._

import io.streamjoin.model.Side

/**
 * Which joins may be `co_partitioned`, and what may stand above one.
 *
 * Whether rows lie where their keys say is seen when the query runs, row by row: nothing here has to be proved for
 * the result to be right. Refused is what would fail then, or could not be told.
 */
private[streamjoin] object CoPartitioning {

  /** What is wrong with a join. */
  def refusal(join: StreamJoin): Option[StreamJoinAnalysisException] =
    if (join.options.coPartitioned)
      ofKey(join).orElse(Side.both.flatMap(side =>
        ofInput(join, side, join.input(side))
      ).headOption)
    else above(join.origin, join.children, "a join that shuffles its inputs")

  /**
   * What is wrong with a node of this project's on such a join. Its rows may come out a batch later than the
   * watermarks of that batch let others expect.
   *
   * @param what the node is
   */
  def above(
      origin: Origin,
      inputs: Seq[LogicalPlan],
      what: String
  ): Option[StreamJoinAnalysisException] =
    Option.when(inputs.exists(isBelow)) {
      refused(
        origin,
        s"$what is above a join with co_partitioned = true, whose rows may come out a batch later",
        "Leave co_partitioned out of the join below; or write its result to a topic, and go on from that"
      )
    }

  /** Behind Spark's own stateful operators rows go by Spark's watermark, which is a batch behind anyway. */
  private def isBelow(plan: LogicalPlan): Boolean = plan match {
    case j: StreamJoin if j.options.coPartitioned    => true
    case _: Aggregate | _: Distinct | _: Deduplicate => false
    case _: DeduplicateWithinWatermark | _: FlatMapGroupsWithState | _: TransformWithState |
        _: FlatMapGroupsInPandasWithState | _: TransformWithStateInPySpark => false
    case other => other.children.exists(isBelow)
  }

  private def refused(origin: Origin, reason: String, instead: String) =
    CoPartitioningErrors.unsupported(origin, reason, instead)

  private def ofKey(join: StreamJoin): Option[StreamJoinAnalysisException] = {
    val keys = join.analysis.equiKeys
    def said(some: Seq[EquiKey]) =
      some.map(k => s"${ColumnNames.sql(k.left)} = ${ColumnNames.sql(k.right)}").mkString(", ")
    PartitionKey.candidates(keys) match {
      case Seq(_) => None
      // no two rows meet, wherever they are
      case Nil if join.analysis.bounds.contradictory => None
      case Nil if keys.exists(_.nullSafe) =>
        Some(refused(
          join.origin,
          "<=> lets rows without a key meet, and Kafka has those in any partition",
          "Write = in its place"
        ))
      case Nil =>
        val found = join.analysis.conjuncts.filter(join.analysis.isEquality).zip(keys).map {
          case (equality, key) => s"${ColumnNames.sql(equality)} of type ${key.left.dataType.sql}"
        }
        Some(refused(
          join.origin,
          s"the condition has no equality of a type that Kafka writes keys in (${PartitionKey.types}): " +
            (if (found.isEmpty) "there is no equality" else found.mkString("found ", ", ", "")),
          "Compare what the producers wrote as the keys of the records, as in o.key = d.key or " +
            "CAST(o.id AS STRING) = CAST(d.id AS STRING)"
        ))
      case several =>
        Some(refused(
          join.origin,
          s"any of these equalities could be the one by which the topics are partitioned: ${said(several)}",
          "Compare the keys of the records alone in ON, and filter the result of an inner join by the others"
        ))
    }
  }

  private def ofInput(
      join: StreamJoin,
      side: Side,
      input: LogicalPlan
  ): Option[StreamJoinAnalysisException] = {
    def no(what: String) = Some(refused(
      join.origin,
      s"the rows of the ${side.name} input are not where a topic of Kafka has them: they come from $what",
      "Join streams of Kafka's topics, with no more than columns and filters in between; or leave " +
        "co_partitioned out, so that rows are brought together by a shuffle"
    ))
    input match {
      case j: StreamJoin if j.options.coPartitioned => None
      case s: StreamingRelationV2 if isKafka(s)     => None
      case s: StreamingRelationV2                   => no(s"the source ${s.sourceName}")
      case s: StreamingRelation                     => no(s"the source ${s.sourceName}")
      // in a batch; where it comes from was seen before
      case _: StreamingDataSourceV2Relation | _: StreamingDataSourceV2ScanRelation => None
      case empty: LocalRelation if empty.isStreaming                               => None
      case passes if staysInPlace(passes) => ofInput(join, side, passes.children.head)
      case j: StreamJoin =>
        no(s"a join without co_partitioned${on(j.condition)}")
      case other => no(other.nodeName)
    }
  }

  /** However it was called in the query. */
  private def isKafka(relation: StreamingRelationV2): Boolean = relation.source.exists {
    case named: DataSourceRegister => named.shortName().equalsIgnoreCase("kafka")
    case _                         => false
  }

  private def on(condition: Expression): String = s" (ON ${ColumnNames.sql(condition)})"

  private def isJoin(e: Expression): Boolean = e match {
    case s: ScalarSubquery     => s.isCorrelated
    case _: SubqueryExpression => true
    case _                     => false
  }

  /** Whether each row that comes out is in the partition of the one that it was made of. */
  private def staysInPlace(plan: LogicalPlan): Boolean = plan match {
    // Spark makes a join of it
    case _ if plan.expressions.exists(_.exists(isJoin)) => false
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: Generate | _: EventTimeWatermark |
        _: CollectMetrics | _: ImposeOrder | _: StreamJoinInput | _: StreamJoinHint |
        _: EventTimeMarks => true
    case _: DeserializeToObject | _: SerializeFromObject | _: MapElements | _: MapPartitions |
        _: TypedFilter => true
    case _: BatchEvalPython | _: ArrowEvalPython | _: MapInPandas | _: MapInArrow => true
    case _                                                                        => false
  }
}
