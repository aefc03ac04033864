package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, Literal}
import org.apache.spark.sql.classic
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.streamjoin.checkpoint.{JoinDescription, StoredBound}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription.bySide
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.json4s._
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

/**
 * SQL function `streamjoin_joins(where)`: the joins in a checkpoint, as JSON. `where` is the folder
 * of the checkpoint or the ID of a running query. `streamjoin.doctor` calls it, because a SQL
 * function works in every kind of session.
 */
private[streamjoin] object JoinsFunction {

  private val name = "streamjoin_joins"

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression) = (
    FunctionIdentifier(name),
    new ExpressionInfo(getClass.getName.stripSuffix("$"), name),
    {
      case Seq(where) if where.foldable && where.eval() != null =>
        Literal(json(SparkSession.active, where.eval().toString))
      case arguments =>
        throw QueryCompilationErrors.wrongNumArgsError(name, Seq(1), arguments.length)
    }
  )

  private def json(session: SparkSession, where: String): String = {
    val spark = session.asInstanceOf[classic.SparkSession]
    val location = QueryCheckpoint.running(spark, where).getOrElse(where)
    val stored = new StoredJoins(spark, location, None)
    compact(render(stored.of(None).filterNot(_.isOrder).map(shown(stored, _))))
  }

  private def shown(stored: StoredJoins, join: StoredJoin): JValue = {
    val d = join.description
    val said = d.times.said.toMap
    ("operator" -> join.operator) ~
      ("batch" -> stored.batch) ~
      ("batchTimeMs" -> stored.batchTimeMs) ~
      ("joinType" -> d.joinType.name) ~
      ("keys" -> d.keys) ~
      ("changelog" -> d.changelog.nonEmpty) ~
      ("contradiction" -> (d.times.bounds == Seq(JoinDescription.Contradiction))) ~
      ("bounds" -> d.times.bounds.flatMap(bound(_, d.times.said))) ~
      ("limits" -> bySide(d.times.limits(_).map(_.name))) ~
      ("times" -> bySide { side =>
        JObject(d.times.said.toList.collect {
          case (time, called) if time.name.startsWith(s"${side.name}.") =>
            JField(called, JString(time.dataType.typeName))
        })
      }) ~
      ("said" -> JObject(d.times.said.map { case (time, called) =>
        JField(time.name, JString(called))
      }.toList)) ~
      ("aliases" -> d.aliases.map { case (side, alias) => side.name -> alias }) ~
      ("lookup" -> bySide(side => said.get(d.times.lookup(side))))
  }

  /** A bound, with its slack in milliseconds or in the unit of the numbers. */
  private def bound(bound: String, times: Seq[StoredBound.Named]): Option[JValue] =
    StoredBound.read(bound, times).map { case ((time, later), (_, earlier), slack) =>
      ("later" -> later) ~ ("earlier" -> earlier) ~
        ("slack" -> TimeUnit.of(time.dataType).fold(slack)(_.shown(slack)))
    }
}
