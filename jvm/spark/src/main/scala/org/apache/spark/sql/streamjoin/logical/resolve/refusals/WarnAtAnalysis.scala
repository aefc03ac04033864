package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import java.util.Locale

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.{ColumnNames, StreamJoinConf}
import org.apache.spark.sql.streamjoin.conditions.{RetentionLimit, TimeUnit}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ImposeOrder,
  JoinKind,
  JoinNode,
  StreamJoin
}
import org.apache.spark.sql.streamjoin.run.OncePerApplication
import org.apache.spark.sql.streamjoin.spark.FileStreamSink

import io.streamjoin.bounds.Saturated

/**
 * Logs a warning on the driver for a query that is valid but probably not intended:
 *
 * - contradictory time bounds
 * - a retention that adds no bound
 * - a changelog join that may be meant as a temporal join
 * - a watermark declared on a table, or twice on one column
 * - a stream-stream join without any watermark
 * - files with duplicate column names
 * - an unknown setting of this project
 *
 * It warns once per node and start of the query, and once per setting. A query starts in a session
 * of its own, so settings are remembered for the whole driver.
 */
private[streamjoin] final class WarnAtAnalysis extends (LogicalPlan => Unit) with Logging {
  import WarnAtAnalysis._

  override def apply(plan: LogicalPlan): Unit = if (plan.isStreaming) {
    plan.foreach { p =>
      p match {
        case j: JoinNode if j.resolved && isNew(j)   => ofJoin(plan, j).foreach(logWarning(_))
        case o: ImposeOrder if o.imposed && isNew(o) => below(o).foreach(twice(o, _))
        case j: Join if isUnbounded(j) && isNew(j) =>
          logWarning(
            "Spark executes a join of two streams without watermarks itself, and buffers all " +
              "rows for ever. Impose orders on its inputs: df.imposeOrder(...) or, in SQL, " +
              "IMPOSE_ORDER(...)."
          )
        case _ =>
      }
      p.getTagValue(OrderOfTable).foreach { column =>
        p.unsetTagValue(OrderOfTable)
        logWarning(
          s"IMPOSE_ORDER on $column has no effect, because its input is a table and not a " +
            "stream. Each batch reads the whole table. To read it as a stream, write TABLE(STREAM " +
            "t), or use spark.readStream."
        )
      }
    }
    plan match {
      case w: WriteToStream if w.sink.isInstanceOf[FileStreamSink] => repeated(w)
      case _                                                       =>
    }
    unknownSettings.filter(OncePerApplication.first(_).nonEmpty).foreach { key =>
      logWarning(s"Unknown setting $key; ${known(key)}.")
    }
  }

  private def ofJoin(plan: LogicalPlan, j: JoinNode): Option[String] =
    if (j.analysis.bounds.contradictory)
      Some(
        "No two rows can match: the bounds of a join contradict each other. The condition " +
          s"is ${ColumnNames.sql(j.condition)}. ${exchanged(j).fold("")(b => s"Perhaps write $b. ")}" +
          "df.explain() shows each bound next to its part of the condition."
      )
    else if (j.options.retention.nonEmpty && !plan.exists(isRetained(j, _)))
      Some(
        "The retention of a join has no effect, because its condition bounds how long the join " +
          s"buffers the rows of both inputs: ${ColumnNames.sql(j.condition)}. Remove the retention."
      )
    else
      j.getTagValue(PerhapsTemporal).map { time =>
        "This join is a changelog join: it joins each row with the latest row of the right input, " +
          s"not with the version that was valid at $time, and corrects the result when a row changes. " +
          "For that version, write how=\"asof\" or, in SQL, FOR SYSTEM_TIME AS OF " +
          s"$time. For the changelog join, write mode=\"changelog\" or, in SQL, " +
          "/*+ STREAM_JOIN(mode => 'changelog') */."
      }

  /** The bounds as BETWEEN, if two of them have their ends exchanged. */
  private def exchanged(j: JoinNode): Option[String] = {
    val found = j.analysis.conditionBounds.found
    (for {
      lower <- found
      upper <- found
      if lower.later.semanticEquals(upper.earlier) && lower.earlier.semanticEquals(upper.later)
      if upper.slack < Saturated.subtract(0, lower.slack)
      unit <- TimeUnit.of(lower.later.dataType)
    } yield {
      val (later, earlier) = (ColumnNames.sql(lower.later), ColumnNames.sql(lower.earlier))
      s"$later BETWEEN ${unit.moved(earlier, upper.slack)} AND " +
        unit.moved(earlier, Saturated.subtract(0, lower.slack))
    }).headOption
  }

  /** Whether the retention in the hint of a join has added a bound to this join. */
  private def isRetained(join: JoinNode, node: LogicalPlan): Boolean = node match {
    case j: JoinNode =>
      j.options.hint == join.options.hint && j.condition.exists(_.isInstanceOf[RetentionLimit])
    case _ => false
  }

  private def isNew(node: LogicalPlan): Boolean = {
    val first = node.getTagValue(Seen).isEmpty
    node.setTagValue(Seen, ())
    first
  }

  private def below(o: ImposeOrder): Option[ImposeOrder] = o.child.collectFirst {
    case other: ImposeOrder if other.imposed && other.column.exprId == o.column.exprId => other
  }

  private def twice(above: ImposeOrder, below: ImposeOrder): Unit = {
    val name = ColumnNames.of(above.column)
    logWarning(
      s"The query imposes an order on $name twice, ${below.words} and above that " +
        s"${above.words}. The one above takes effect. Remove one of them."
    )
  }

  /** Whether Spark executes the join, and no input has a watermark. */
  private def isUnbounded(j: Join): Boolean = JoinKind.required(j).isEmpty && j.children.forall {
    input =>
      input.isStreaming && !input.exists {
        case _: EventTimeWatermark | _: ImposeOrder => true
        case _                                      => false
      }
  }

  /** A file with two columns of one name cannot be read. */
  private def repeated(w: WriteToStream): Unit =
    if (w.inputQuery.exists(_.isInstanceOf[StreamJoin])) {
      val names = w.inputQuery.output.map(_.name.toLowerCase(Locale.ROOT))
      val twice = names.diff(names.distinct).distinct
      // tagged separately: the query may consist of a join that other warnings have tagged
      if (twice.nonEmpty && isNew(w)) {
        logWarning(
          s"The files of this query would contain more than one column ${twice.mkString(", ")}, " +
            "and no reader accepts such files. Drop or rename one of them, as in " +
            s".drop(right[\"${twice.head}\"])."
        )
      }
    }

  private def unknownSettings: Seq[String] =
    SQLConf.get.getAllConfs.keys.toSeq.filter(hasPrefix).filterNot(existing.contains).sorted

  private val existing: Seq[String] = StreamJoinConf.all.map(_.key).sorted

  private def hasPrefix(key: String): Boolean = key.toLowerCase(Locale.ROOT).startsWith(Prefix)

  private def known(key: String): String = existing.find(_.equalsIgnoreCase(key)) match {
    case Some(same) => s"it is written $same"
    case None       => s"there are ${existing.mkString(", ")}"
  }
}

private[streamjoin] object WarnAtAnalysis {

  /** Tag of a table for which a watermark was declared and ignored: the name of the column. */
  val OrderOfTable: TreeNodeTag[String] = TreeNodeTag("streamjoin.orderOfTable")

  /** Tag of a changelog join that may be meant as a temporal join: the time of the left input. */
  val PerhapsTemporal: TreeNodeTag[String] = TreeNodeTag("streamjoin.perhapsTemporal")

  private val Seen: TreeNodeTag[Unit] = TreeNodeTag("streamjoin.warned")

  private val Prefix = "spark.sql.streamjoin."
}
