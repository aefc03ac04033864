package org.apache.spark.sql.streamjoin.physical.stateful.times

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}
import org.apache.spark.sql.streamjoin.spark.SourceOffsets
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
 * The offsets are in the offset log, so a batch that runs again has the same groups. No other source
 * lists any. A batch in which the source has no new row lists none.
 */
private[times] object ListedGroups {

  private val Kafka = "org.apache.spark.sql.kafka010."

  def of(input: SparkPlan, per: Seq[Attribute]): Set[String] = {
    val origins = per.map(origin(input, _))
    origins.flatten.map(_._1).distinct match {
      case Seq(SourceOffsets(stream, offsets))
          if origins.forall(_.nonEmpty) && stream.getClass.getName.startsWith(Kafka) =>
        val names = for {
          (topic, partitions) <- fields(offsets.json)
          (partition, _) <- partitions.obj
        } yield origins.flatten.map(_._2.name).map {
          case "topic"     => Some(topic)
          case "partition" => Some(partition)
          case _           => None
        }
        names.filter(_.forall(_.nonEmpty)).map(GroupName.of).toSet
      case _ => Set.empty
    }
  }

  private def fields(offsets: String): Seq[(String, JObject)] =
    Try(parse(offsets)).toOption.collect { case o: JObject => o }.toSeq.flatMap(_.obj).collect {
      case (topic, partitions: JObject) => topic -> partitions
    }

  /** The column of a source that a column is, through renames. */
  private def origin(plan: SparkPlan, column: Attribute): Option[(SparkPlan, Attribute)] =
    plan match {
      case s @ SourceOffsets(_, _) => s.output.find(_.exprId == column.exprId).map(s -> _)
      case ProjectExec(list, child) =>
        list.find(_.exprId == column.exprId).collect {
          case a: Attribute           => a
          case Alias(a: Attribute, _) => a
        }.flatMap(origin(child, _))
      case other if other.children.length == 1 => origin(other.children.head, column)
      case _                                   => None
    }
}
