package org.apache.spark.sql.streamjoin.physical.stateful.times

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  BindReferences,
  Predicate,
  PredicateHelper,
  SubqueryExpression
}
import org.apache.spark.sql.execution.{FilterExec, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.plan.CopiedColumn
import org.apache.spark.sql.streamjoin.spark.SourceOffsets
import org.apache.spark.unsafe.types.UTF8String
import org.json4s.JObject
import org.json4s.jackson.JsonMethods.parse

/**
 * The groups that a source lists, also those without a row so far. If the groups are topics and
 * partitions of Kafka, these are the partitions in the offsets of the batch; in real-time mode, in
 * those of its start:
 *
 * {{{
 *   {"orders": {"0": 1200, "1": 0}}      per topic, partition     orders, 0   orders, 1
 * }}}
 *
 * A partition whose rows fail a filter on topics or partitions is not listed. The offsets are in
 * the offset log, so a batch that runs again has the same groups. No other source lists any. A
 * source without a new row in the batch lists none.
 */
private[times] object ListedGroups {

  private val Kafka = "org.apache.spark.sql.kafka010."

  def of(input: SparkPlan, per: Seq[Attribute]): Set[String] = {
    // a name as the source writes it, not as the query does
    val origins = per.map(CopiedColumn.find[SparkPlan, (SparkPlan, Option[String])](input, _) {
      case (scan @ SourceOffsets(_, _), column) =>
        scan -> scan.output.find(_.exprId == column.exprId).map(_.name)
    })
    (for {
      (scan @ SourceOffsets(stream, offsets), _) <- origins.head
      if stream.getClass.getName.startsWith(Kafka)
      names = origins.flatMap(_.collectFirst { case (s, name) if s eq scan => name })
      if names.length == per.length
      passes = new Passed(input, scan)
      (topic, partitions) <- fields(offsets.json)
      (partition, _) <- partitions.obj if passes(topic, partition)
      values = names.map {
        case Some("topic")     => Some(topic)
        case Some("partition") => Some(partition)
        case _                 => None
      }
      if values.forall(_.nonEmpty)
    } yield GroupName.of(values)).toSet
  }

  /** The partitions of a source whose rows pass the filters above it on topics and partitions. */
  private final class Passed(input: SparkPlan, scan: SparkPlan) extends PredicateHelper {
    private val columns =
      Seq("topic", "partition").flatMap(name => scan.output.find(_.name == name))
    private val conditions = input.collect {
      case FilterExec(condition, child) if child.exists(_ eq scan) =>
        splitConjunctivePredicates(condition).filter { c =>
          c.deterministic && !SubqueryExpression.hasSubquery(c) &&
          c.references.nonEmpty && c.references.subsetOf(AttributeSet(columns))
        }
    }.flatten.map(c => Predicate.createInterpreted(BindReferences.bindReference(c, columns)))

    def apply(topic: String, partition: String): Boolean = conditions.isEmpty || {
      val row = InternalRow.fromSeq(columns.map(_.name).map {
        case "topic" => UTF8String.fromString(topic)
        case _       => partition.toInt
      })
      conditions.forall(_.eval(row))
    }
  }

  private def fields(offsets: String): Seq[(String, JObject)] =
    Try(parse(offsets)).toOption.collect { case o: JObject => o }.toSeq.flatMap(_.obj).collect {
      case (topic, partitions: JObject) => topic -> partitions
    }
}
