package org.apache.spark.sql.streamjoin.logical.resolve

import java.util.Locale
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin

/**
 * Warns, in the driver's log, of what may be meant but is probably not: bounds that contradict each
 * other, a table with an order among streams, a setting of this project that there is not. Once for
 * each join or order, and for each setting of a session.
 */
private[streamjoin] final class WarnAtAnalysis extends (LogicalPlan => Unit) with Logging {
  import WarnAtAnalysis._

  private val settings = ConcurrentHashMap.newKeySet[String]

  override def apply(plan: LogicalPlan): Unit = if (plan.isStreaming) {
    plan.foreach { p =>
      p match {
        case j: StreamJoin if j.resolved && isNew(j) && j.analysis.bounds.contradictory =>
          logWarning(
            "No two rows can match: the bounds of a join contradict each other. Its condition is " +
              s"${ColumnNames.sql(j.condition)}."
          )
        case _ =>
      }
      p.getTagValue(OrderOfTable).foreach { column =>
        p.unsetTagValue(OrderOfTable)
        logWarning(
          s"IMPOSE_ORDER on $column does nothing, for its input is a table and no stream, and is read " +
            "whole in each batch. If it is meant as a stream, write TABLE(STREAM t), or read it by " +
            "spark.readStream."
        )
      }
    }
    unknownSettings.filter(settings.add).foreach { key =>
      logWarning(s"There is no setting $key; ${known(key)}.")
    }
  }

  private def isNew(j: StreamJoin): Boolean = {
    val first = j.getTagValue(Seen).isEmpty
    j.setTagValue(Seen, ())
    first
  }

  private def unknownSettings: Seq[String] =
    SQLConf.get.getAllConfs.keys.toSeq.filter(isOurs).filterNot(existing.contains).sorted

  private lazy val existing: Seq[String] =
    SQLConf.getConfigEntries().asScala.map(_.key).filter(isOurs).toSeq.sorted

  private def isOurs(key: String): Boolean = key.toLowerCase(Locale.ROOT).startsWith(Prefix)

  private def known(key: String): String = existing.find(_.equalsIgnoreCase(key)) match {
    case Some(same) => s"it is written $same"
    case None       => s"there are ${existing.mkString(", ")}"
  }
}

private[streamjoin] object WarnAtAnalysis {

  /** On what an order was imposed on and dropped from, for it is no stream: the column. */
  val OrderOfTable: TreeNodeTag[String] = TreeNodeTag("streamjoin.orderOfTable")

  private val Seen: TreeNodeTag[Unit] = TreeNodeTag("streamjoin.warned")

  private val Prefix = "spark.sql.streamjoin."
}
