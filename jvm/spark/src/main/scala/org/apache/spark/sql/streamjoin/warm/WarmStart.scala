package org.apache.spark.sql.streamjoin.warm

import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, AnalysisException, DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.streaming.OneTimeTrigger
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{JoinNode, StreamOrder}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.InputSources
import org.apache.spark.sql.streamjoin.physical.FirstBatchOfHistory
import org.apache.spark.sql.streamjoin.spark.{CheckpointFileManager, NamedSources}
import org.apache.spark.sql.types.StructType

/**
 * Starts a query from history: writes a checkpoint in which the first batch of the query has read
 * the history, and its live sources have read nothing.
 *
 * {{{
 *   batch 0, by this object     orders and payments up to 14:00, from tables    output dropped
 *   batch 1, by the query       orders and payments from 14:00, from topics     output emitted
 * }}}
 *
 * Batch 0 is a batch of the query itself, with each live source replaced by its history. So every
 * operator has the state, and every watermark the value, that it would have if the query had
 * always run. A live source begins where its options say, because the offsets of batch 0 say
 * that it has delivered nothing.
 *
 * @param query the query as it is started later
 * @param checkpoint the folder of the new checkpoint
 * @param allowGap whether to accept sources whose cut cannot be checked
 */
private[warm] final class WarmStart(
    query: classic.DataFrame,
    checkpoint: String,
    histories: Seq[History],
    outputMode: String,
    allowGap: Boolean
) {
  private val session = query.sparkSession
  private val plan = query.queryExecution.analyzed
  private val folder = new Path(checkpoint)
  private val files = CheckpointFileManager.create(folder, session.sessionState.newHadoopConf())

  /** @return a line for each stream, then for each join and ordered output */
  def run(): Seq[String] = {
    refuse()
    val inputs = histories.map(input)
    if (!allowGap) inputs.foreach(new Cut(_, refusal).check())
    val conditions = new EarliestTimes(plan, inputs).conditions
    val operators = Using.resource(new HistoryTables) { tables =>
      load(reading(inputs, conditions, tables)(plan))
    }
    inputs.map(i =>
      s"${i.told}: ${conditions.get(i).fold("all rows")(c => s"rows with ${c.sql}")}"
    ) ++
      withoutHistory(inputs).map(s => s"$s: no history") ++ operators
  }

  private def input(history: History): Input = {
    val live =
      Input.untimed(history.live.asInstanceOf[classic.DataFrame].queryExecution.analyzed)
    val name = InputSources.of(live).flatMap(_.identities).mkString(", ")
    if (live.exists(Input.isTimed)) throw refusal("TIMED_STREAM", Seq("live" -> name))
    if (history.rows.isStreaming) throw refusal("STREAMING_HISTORY", Seq("live" -> name))
    InputSources.leaves(live) match {
      case Seq(source) =>
        val rows = history.rows.to(live.schema).asInstanceOf[classic.DataFrame]
        val found = new Input(live, source, rows, history, name)
        if (!plan.exists(found.isReadBy)) throw refusal("NOT_READ", Seq("live" -> name))
        found
      case several =>
        throw refusal("SEVERAL_SOURCES", Seq("live" -> name, "count" -> several.length.toString))
    }
  }

  /** Runs the first batch. */
  private def load(batch: LogicalPlan): Seq[String] = {
    val unfinished = FirstBatchOfHistory.unfinished(checkpoint)
    files.mkdirs(folder)
    files.createAtomic(unfinished, overwriteIfPossible = false).close()
    val writer = classic.Dataset.ofRows(session, batch).writeStream
      .format("noop").outputMode(outputMode)
      .option("checkpointLocation", checkpoint)
      .trigger(OneTimeTrigger)
    val started =
      try writer.start()
      catch {
        // Spark refuses a query before it writes anything
        case e: AnalysisException =>
          files.delete(unfinished)
          throw e
      }
    try started.awaitTermination()
    finally started.stop()
    files.delete(unfinished)
    started.lastProgress.stateOperators.toSeq.map(o => s"${o.operatorName}: ${o.numRowsTotal} rows")
  }

  /** The query with a table in place of each live source. */
  private def reading(
      inputs: Seq[Input],
      conditions: Map[Input, Expression],
      tables: HistoryTables
  )(part: LogicalPlan): LogicalPlan = {
    def table(source: LogicalPlan, rows: classic.DataFrame) =
      Input.inPlaceOf(part, tables.stream(rows, NamedSources.nameOf(source)))
    inputs.find(_.isReadBy(part)) match {
      case Some(input) => table(input.source, Input.where(input.rows, conditions.get(input)))
      case None if InputSources.isSource(part) => table(part, none(part.schema))
      case None => part.mapChildren(reading(inputs, conditions, tables))
    }
  }

  private def none(schema: StructType): classic.DataFrame =
    session.createDataFrame(java.util.List.of[Row](), schema)

  private def withoutHistory(inputs: Seq[Input]): Seq[String] = {
    def sources(part: LogicalPlan): Seq[LogicalPlan] =
      if (inputs.exists(_.isReadBy(part))) Nil
      else if (InputSources.isSource(part)) Seq(part)
      else part.children.flatMap(sources)
    sources(plan).flatMap(InputSources.of).flatMap(_.identities).distinct
  }

  // ---- refusals ----

  private def refusal(
      subClass: String,
      parameters: Seq[(String, String)]
  ): StreamJoinAnalysisException = StateErrors.warmStart(subClass, checkpoint, parameters)

  private def refuse(): Unit = {
    if (!plan.exists(p => p.isInstanceOf[JoinNode] || p.isInstanceOf[StreamOrder]))
      throw refusal("NO_JOIN", Nil)
    if (files.exists(folder) && files.list(folder).nonEmpty) throw refusal("TARGET_NOT_EMPTY", Nil)
  }
}

/** The entry point. */
object WarmStart {

  /** @return a line for each stream, then for each join and ordered output */
  def apply(
      query: DataFrame,
      checkpoint: String,
      histories: Seq[History],
      outputMode: String,
      allowGap: Boolean
  ): Seq[String] = {
    val own = query.asInstanceOf[classic.DataFrame]
    own.sparkSession.withActive {
      new WarmStart(own, checkpoint, histories, outputMode, allowGap).run()
    }
  }
}
