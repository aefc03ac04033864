package org.apache.spark.sql.streamjoin.state

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.streaming.state.{
  OperatorStateMetadata,
  OperatorStateMetadataV2
}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.physical.StreamJoinSpec
import org.json4s.{JObject, JString}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

/**
 * Whether a checkpoint belongs to the join that is about to go on from it.
 *
 * What decides which rows were kept or already given out must be as it was: the type of the join, its
 * keys, its times and its bounds. Lags may change; a watermark never goes back.
 */
private[streamjoin] object CheckpointFit {

  /** The join as it is written beside the state. */
  def describe(spec: StreamJoinSpec, format: StateFormat): String = {
    // aliases come and go with the optimizer, the columns themselves stay
    val names = spec.bounds.columns.zip(spec.times).map {
      case (column, a: Attribute) => s"${column.side.name}.${a.name}"
      case (column, _)            => s"${column.side.name}.(expression)"
    }
    val description: JObject =
      ("format" -> s"${format.name} ${format.version}") ~
        ("joinType" -> spec.joinType.name) ~
        ("keys" -> spec.equiKeys.map(k =>
          s"${k.left.dataType.sql}${if (k.nullSafe) " <=>" else ""}"
        ).mkString(", ")) ~
        ("sources" -> spec.bases.map(_.name).mkString(", ")) ~
        ("bounds" -> spec.bounds.conjuncts
          .map(b => s"${names(b.later)} >= ${names(b.earlier)} - ${b.slack}")
          .sorted
          .mkString("; "))
    compact(render(description))
  }

  def check(location: String, old: OperatorStateMetadata, now: OperatorStateMetadata): Unit =
    (old, now) match {
      case (o: OperatorStateMetadataV2, n: OperatorStateMetadataV2) =>
        val (found, expected) = (fields(o.operatorPropertiesJson), fields(n.operatorPropertiesJson))
        expected.keys.toSeq.sorted.find(k => found.get(k) != expected.get(k)).foreach { k =>
          throw StreamJoinErrors.incompatibleCheckpoint(
            location,
            s"it was written by a join with another '$k'",
            found.getOrElse(k, "none"),
            expected(k)
          )
        }
      case _ =>
        throw StreamJoinErrors.incompatibleCheckpoint(
          location,
          "it was not written by this operator",
          old.toString,
          now.toString
        )
    }

  /** Spark's own complaint about another schema, as one of ours. */
  def guard[T](location: String)(validation: => T): T =
    try validation
    catch {
      case e: SparkThrowable if String.valueOf(e.getCondition).startsWith("STATE_STORE") =>
        val parameters = e.getMessageParameters
        throw StreamJoinErrors.incompatibleCheckpoint(
          location,
          "its rows have other columns",
          String.valueOf(parameters.getOrDefault("storedValueSchema", parameters.toString)),
          String.valueOf(parameters.getOrDefault("newValueSchema", "those of this query")),
          e.asInstanceOf[Throwable]
        )
    }

  private def fields(json: String): Map[String, String] = parse(json) match {
    case JObject(pairs) => pairs.collect { case (name, JString(value)) => name -> value }.toMap
    case _              => Map.empty
  }
}
