package org.apache.spark.sql.streamjoin.evolve

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.streaming.InternalOutputModes
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataWriter
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.checkpoint.{DescribedKind, StateSchemaFiles}
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.logical.resolve.shared.InputSources
import org.apache.spark.sql.streamjoin.physical.PlannedQuery
import org.apache.spark.sql.streamjoin.physical.stateful.operator.EventTimeExec
import org.apache.spark.sql.streamjoin.rewrite.{CheckpointRewrite, StateWriter}
import org.apache.spark.sql.streamjoin.spark.StreamingCheckpointConstants.DIR_NAME_OFFSETS
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFileManager,
  CheckpointFiles,
  NamedSources,
  StateStoreWriter
}

/**
 * Changes that the plan alone does not show.
 *
 * @param rename the new names of columns, by their old ones
 * @param fill the values of stored rows in added columns, and instead of NULL in columns that are never
 *   NULL in the changed query, by the names of the columns
 * @param sources for a source of the changed query, that of the checkpoint; none: it is new
 */
final case class Told(
    rename: Map[String, String],
    fill: Map[String, Any],
    sources: Map[String, Option[String]]
)

/**
 * Writes a new checkpoint of a stopped query, from which a changed query continues.
 *
 * The plan of the changed query describes how each of its operators stores rows: their columns, keys,
 * times and limits. Step 2 reads the rows of the operator that it continues, and computes all of
 * these anew.
 *
 * @param changed the changed query
 */
private[evolve] final class Evolve(
    session: classic.SparkSession,
    location: String,
    target: String,
    changed: DataFrame,
    told: Told,
    dryRun: Boolean
) extends CheckpointRewrite(session, location, target) {

  private val sparks = stored.others.collect { case (id, SparkJoin.Operator) =>
    new SparkJoin(session, stored, id)
  }
  override protected val partitions: Int =
    sparks.headOption.fold(stored.of(None).head.partitions)(_.partitions)
  private val query = changed.queryExecution.analyzed
  private val log = CheckpointFiles.offsets(session, new Path(stored.root, DIR_NAME_OFFSETS))

  /** @return lines about each operator */
  def run(): Seq[String] = {
    refuseLocations(reads = _ == SparkJoin.Operator && SparkJoin.isReadable(stored))
    if (!changed.isStreaming)
      throw refusal("INVALID_ARGUMENT", "what" -> "changed", "known" -> "a streaming DataFrame")
    val own = session.cloneSession()
    own.withActive {
      val plan = PlannedQuery.of(
        own,
        query,
        InternalOutputModes.Append,
        files.state.toString,
        planned max batch,
        log
      )
      evolve(own, operatorsOf(plan))
    }
  }

  private def evolve(own: classic.SparkSession, operators: Seq[ChangedOperator]): Seq[String] = {
    val before = stored.all.map(StoredOperator(_)) ++ takenOver(operators)
    val sources = SourceMap.of(
      before.map(_.sources),
      files.lines(DIR_NAME_OFFSETS, planned max batch).drop(2).length,
      InputSources.of(query),
      told.sources,
      NamedSources.findOffsets(log, planned max batch)
    )(refuse)
    val places = new OperatorPlaces(sources, operators, before)
    val continued = Continued.of(operators, before, places)
    val evolved = plans(own, operators, before, continued, places, sources)
    if (!dryRun) write(evolved, before.head.join, sources)
    evolved.flatMap(_.told) ++ sourceLines(sources) ++
      removed(before, continued.values.map(_.before.id).toSet)
  }

  /** The joins of Spark in the checkpoint. The changed query has the same ones. */
  private def takenOver(operators: Seq[ChangedOperator]): Seq[StoredOperator] = {
    val known = (stored.all.map(_.operator) ++ sparks.map(_.id)).toSet
    for (spark <- sparks) yield {
      val pair = for {
        now <- operators.find(_.id == spark.id) if operators.map(_.id).toSet == known
        layout <- now.layout if layout.description.kind == DescribedKind.EventTime
      } yield spark.continuedBy(now, layout)
      pair.getOrElse(throw refusal(
        "OTHER_JOINS",
        "before" -> sparks.length.toString,
        "now" -> operators.map(_.name).mkString(", ")
      ))
    }
  }

  private def refuse(
      subClass: String,
      parameters: Seq[(String, String)]
  ): StreamJoinAnalysisException = refusal(subClass, parameters: _*)

  private def operatorsOf(plan: SparkPlan): Seq[ChangedOperator] = {
    val operators = plan.collect { case w: StateStoreWriter => w }.map {
      case own: EventTimeExec => ChangedOperator(own)
      case other => throw refusal(
          "OTHER_OPERATOR",
          "operator" -> other.stateInfo.fold("")(_.operatorId.toString),
          "name" -> other.shortName
        )
    }
    operators.sortBy(_.id)
  }

  private def plans(
      own: classic.SparkSession,
      operators: Seq[ChangedOperator],
      before: Seq[StoredOperator],
      continued: Map[Long, Continued],
      places: OperatorPlaces,
      sources: SourceMap
  ): Seq[EvolvedOperator] = {
    val columns = new ColumnChanges(
      told.rename,
      told.fill,
      own.sessionState.conf.sessionLocalTimeZone,
      own.sessionState.conf.resolver,
      refuse
    )
    requireUsed(operators, before)
    val numbers = before.map { operator =>
      val found = operator.join.read(0, hadoopConf, inUse = false)
      found.close()
      operator.id -> found.numbers
    }.toMap
    val watermarks = new WatermarkTable(before, numbers, places, columns.renamed, refuse)
    val evolution = new OperatorEvolution(
      own,
      new StateWriter(session, partitions),
      partitions,
      operators,
      places,
      watermarks,
      columns,
      refuse
    )
    operators.map { operator =>
      describe(s"read the rows of ${operator.name}")
      continued.get(operator.id)
        .fold(evolution.added(operator))(evolution.continued(operator, _))
    }
  }

  /** Refuses a name of `rename` or `fill` that no stored column has, which may be misspelt. */
  private def requireUsed(operators: Seq[ChangedOperator], before: Seq[StoredOperator]): Unit = {
    val old = before.flatMap(b => b.join.sides.flatMap(b.join.rows(_).fieldNames)).distinct
    val now = operators.flatMap(_.layout).flatMap(l => l.columns.left ++ l.columns.right)
      .map(_.name).distinct
    def require(what: String, name: String, known: Seq[String]): Unit =
      if (!known.exists(session.sessionState.conf.resolver(_, name))) {
        throw refusal(
          "INVALID_ARGUMENT",
          "what" -> s"$what: $name",
          "known" -> known.mkString(", ")
        )
      }
    for ((before, after) <- told.rename) {
      require("rename", before, old)
      require("rename", after, now)
    }
    for ((name, _) <- told.fill) require("fill", name, now)
  }

  // ---- files ----

  private def write(
      evolved: Seq[EvolvedOperator],
      before: StoredJoin,
      sources: SourceMap
  ): Unit = {
    val writer = new StateWriter(session, partitions)
    val ids = evolved.flatMap { operator =>
      describe(s"write the rows of ${operator.now.name}")
      writeDescription(operator.now.exec)
      val state = StateWriter.NewState(
        files.state.toString,
        operator.now.id,
        before.version,
        before.recordsIds,
        operator.now.exec.stateFormat,
        operator.now.exec.storedSchema
      )
      writer.write(operator.reader, state, operator.contents).map(operator.now.id -> _)
    }
    complete(ids.toMap, sources.logs, sources.offsets)
  }

  /** Writes the schema and the metadata of an operator, as its first batch does. */
  private def writeDescription(operator: EventTimeExec): Unit = {
    val folder = new Path(files.state, operator.getStateInfo.operatorId.toString)
    CheckpointFileManager.create(folder, hadoopConf).mkdirs(StateSchemaFiles.folder(folder))
    val schemas = operator.validateAndMaybeEvolveStateSchema(hadoopConf, 0L, 3)
    OperatorStateMetadataWriter
      .createWriter(folder, hadoopConf, operator.operatorStateMetadataVersion, Some(batch))
      .write(operator.operatorStateMetadata(schemas.map(s => List(s.schemaPath))))
  }

  // ---- lines ----

  private def sourceLines(sources: SourceMap): Seq[String] =
    sources.fromBeginning.map(s =>
      s"source ${SourceMap.shown(Seq(s))}: is read from its start"
    ) ++
      sources.removed.map(s => s"source ${SourceMap.shown(Seq(s))}: is not read any more")

  private def removed(before: Seq[StoredOperator], continued: Set[Long]): Seq[String] =
    before.filterNot(b => continued(b.id)).map { b =>
      s"${b.kind} ${b.id} of the checkpoint: removed, its rows are left out"
    }
}

/** The entry point. */
object Evolve {

  /** @return lines about each operator and source that changes */
  def apply(
      checkpoint: String,
      to: String,
      changed: DataFrame,
      told: Told,
      dryRun: Boolean
  ): Seq[String] = CheckpointRewrite.in(changed.sparkSession)(
    new Evolve(_, checkpoint, to, changed, told, dryRun).run()
  )
}
