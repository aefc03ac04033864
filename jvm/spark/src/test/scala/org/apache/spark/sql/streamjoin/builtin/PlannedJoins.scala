package org.apache.spark.sql.streamjoin.builtin

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkConf
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.internal.{SQLConf, StaticSQLConf}
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.StreamJoinConf

import io.streamjoin.StreamJoinExtensions

/** A session that replaces every stream join that this project supports. */
private[builtin] object ReplacingSession {
  def conf(base: SparkConf): SparkConf = base
    .set(
      StaticSQLConf.SPARK_SESSION_EXTENSIONS.key,
      Seq(classOf[StreamJoinExtensions], classOf[PlannedJoins]).map(_.getName).mkString(",")
    )
    .set(StreamJoinConf.ReplaceBuiltin.key, "true")
    .set(SQLConf.SHUFFLE_PARTITIONS.key, "3")
}

/** Records the operators that run the stream joins. */
class PlannedJoins extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectColumnar { _ =>
      new ColumnarRule {
        override def preColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) => {
          plan.foreach {
            case j: StreamingSymmetricHashJoinExec => PlannedJoins.noted.add(j.shortName)
            case j: StreamJoinExec                 => PlannedJoins.noted.add(j.shortName)
            case _                                 =>
          }
          plan
        }
      }
    }
}

private[builtin] object PlannedJoins {

  val Ours = "streamJoin"
  val Sparks = "symmetricHashJoin"

  private val noted = ConcurrentHashMap.newKeySet[String]

  def clear(): Unit = noted.clear()

  def seen: Set[String] = noted.asScala.toSet
}
