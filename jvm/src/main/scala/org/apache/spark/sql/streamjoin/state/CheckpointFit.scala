package org.apache.spark.sql.streamjoin.state

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.streaming.state.{
  OperatorStateMetadata,
  OperatorStateMetadataV2
}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.EquiKey
import org.apache.spark.sql.streamjoin.physical.StreamJoinSpec
import org.json4s.{JObject, JString}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.core.Side

/**
 * Whether a checkpoint belongs to the join that is about to go on from it.
 *
 * What decides which rows were kept, or already given out, and where they are found must be as it was:
 * the type of the join, its keys, its times and what is proved of them. How the condition is written
 * does not matter. Lags may change; a watermark never goes back.
 */
private[streamjoin] object CheckpointFit {

  /** The join as it is written beside the state. */
  def describe(spec: StreamJoinSpec, format: StateFormat): String = {
    val names = timeNames(spec)
    val description: JObject =
      ("format" -> s"${format.name} ${format.version}") ~
        ("joinType" -> spec.joinType.name) ~
        ("keys" -> spec.equiKeys.map(key).mkString(", ")) ~
        ("sources" -> spec.bases.map(_.name).mkString(", ")) ~
        ("bounds" -> bounds(spec.bounds, names)) ~
        ("lookup" -> Side.both.map(s => names(spec.bounds.probeColumn(s))).mkString(", ")) ~
        // a stored row has its limits in this order
        ("limits" -> Side.both.flatMap(spec.bounds.limiting(_).map(names)).mkString(", "))
    compact(render(description))
  }

  private def key(k: EquiKey): String =
    s"${text(k.left)} ${if (k.nullSafe) "<=>" else "="} ${text(k.right)}: ${k.left.dataType.sql}"

  /** All that follows from the condition, so that another way to write it is the same. */
  private def bounds(bounds: JoinBounds, names: IndexedSeq[String]): String =
    if (bounds.contradictory) "no two rows can match"
    else {
      val proved = for {
        later <- names.indices
        earlier <- names.indices
        if later != earlier && bounds.slack(later, earlier) != JoinBounds.Unbounded
      } yield s"${names(later)} >= ${names(earlier)} - ${bounds.slack(later, earlier)}"
      proved.sorted.mkString("; ")
    }

  /** Names for the times of a join: those of one input that are called the same are numbered. */
  private def timeNames(spec: StreamJoinSpec): IndexedSeq[String] = {
    val plain = spec.bounds.columns.zip(spec.times).map { case (column, time) =>
      s"${column.side.name}.${text(time)}"
    }
    plain.zipWithIndex.map { case (name, i) =>
      plain.take(i).count(_ == name) match {
        case 0      => name
        case before => s"$name (${before + 1})"
      }
    }
  }

  /** Aliases come and go with the optimizer, ids with each run; the columns themselves stay. */
  private def text(e: Expression): String =
    e.transform { case a: Attribute => a.withQualifier(Nil) }.sql

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
