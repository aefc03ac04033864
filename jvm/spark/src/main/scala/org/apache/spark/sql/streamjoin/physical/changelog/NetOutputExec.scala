package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Attribute,
  AttributeSet,
  Expression,
  SortOrder,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution, Partitioning}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.logical.plan.KeyHash
import org.apache.spark.sql.streamjoin.physical.stateful.{ExplainedLine, JoinDistribution}

import io.streamjoin.join.changelog.ChangelogCounters

/**
 * Nets the changes of a batch by what comes out of the query: a join nets those of one join key, and where that does
 * not come out, a row that leaves one join key may be equal to one that enters another.
 *
 * {{{
 *   output key is there    by key: equal images cancel, two that differ are an update
 *   else                   by all columns: equal rows cancel, what is left are inserts and deletes
 * }}}
 *
 * By a key, an update that the join tells goes through as it is, see [[NettedByKey]]: only what comes or goes alone is sorted.
 *
 * Where the join key comes out and only what is computed of other columns may be equal, the changes of one join key are
 * netted as they come from the join, without a shuffle.
 *
 * It keeps nothing, for both halves are in one batch.
 *
 * @param key by which rows of the output are told apart; empty: there is no such, or not all of it comes out
 * @param told the columns in which rows are compared
 * @param kind the column that says what became of a row
 * @param within the join key, where only rows of one such may be equal; empty: rows of several
 * @param paired how changes arrive where they are netted by a key and without an order; none: as they come out, in an order
 * @param reason why it is needed, in words
 */
case class NetOutputExec(
    key: Seq[Attribute],
    told: Seq[Attribute],
    kind: Attribute,
    within: Seq[Expression],
    paired: Option[PairedChanges],
    reason: String,
    child: SparkPlan
) extends UnaryExecNode {

  override def nodeName: String = "NetOutput"

  private def by: String = if (key.isEmpty) "all columns" else key.map(_.name).mkString(", ")

  override def simpleString(maxFields: Int): String =
    s"NetOutput by $by${if (within.isEmpty) "" else ", within each join key"}"

  private def explained: Seq[String] = Seq(
    s"$reason: what cancels out is left out",
    if (key.isEmpty) "changes come out as insert and delete"
    else {
      s"two images of one key ($by) come out as an update" +
        (if (within.isEmpty) ", also where the join key changed" else "")
    }
  )

  override def innerChildren: Seq[QueryPlan[_]] = explained.map(ExplainedLine(_))

  override def verboseStringWithOperatorId(): String =
    s"\n$formattedNodeName\n${(simpleString(0) +: explained).mkString("\n")}\n"

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "suppressedUpdates" ->
      SQLMetrics.createMetric(sparkContext, "updates that change nothing that is seen")
  )

  override def output: Seq[Attribute] = paired.fold(child.output)(_.columns)

  override def producedAttributes: AttributeSet = AttributeSet(kind)

  override def outputPartitioning: Partitioning = child.outputPartitioning

  /** As many columns as can be hashed: equal rows are equal in those, too. */
  private def clustered: Seq[Attribute] =
    JoinDistribution.hashable(if (key.isEmpty) told else key)

  override def requiredChildDistribution: Seq[Distribution] = Seq(
    if (within.nonEmpty) JoinDistribution.together(within)
    else if (clustered.isEmpty) AllTuples
    else JoinDistribution.together(clustered)
  )

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(
    if (paired.nonEmpty) Nil else order
  )

  /** By a key as it is, so that a run is of one key; else by a hash, for not all types have an order. */
  private def order: Seq[SortOrder] =
    if (within.nonEmpty) Seq(SortOrder(KeyHash.of(within), Ascending))
    else if (key.nonEmpty) key.map(SortOrder(_, Ascending))
    else if (clustered.isEmpty) Nil
    else Seq(SortOrder(KeyHash.of(clustered), Ascending))

  override protected def doExecute(): RDD[InternalRow] = {
    val (sorted, by, compared, ofKind, columns, pairs, hashed) =
      (order, key, told, kind, output, paired, clustered)
    val (rowsOut, suppressed) = (longMetric("numOutputRows"), longMetric("suppressedUpdates"))
    child.execute().mapPartitionsInternal { rows =>
      val counters = new ChangelogCounters
      val arriving = rows.asInstanceOf[Iterator[UnsafeRow]]
      val netted = pairs match {
        case Some(p) => new NettedByKey(p, by, hashed, compared, ofKind, arriving, counters)
        case None => new NettedRuns(sorted, by, compared, ofKind, columns, arriving, counters).rows
      }
      new Iterator[InternalRow] {
        override def hasNext: Boolean = {
          val more = netted.hasNext
          if (!more) suppressed.set(counters.suppressedUpdates)
          more
        }
        override def next(): InternalRow = {
          rowsOut += 1
          netted.next()
        }
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): NetOutputExec =
    copy(child = newChild)
}
