package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.{
  OperatorStateMetadata,
  OperatorStateMetadataV2,
  StateStoreId
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.formats.StateFormats
import org.apache.spark.sql.streamjoin.checkpoint.{
  HotKeyFiles,
  HotKeySums,
  JoinDescription,
  LocalCheckpointFiles,
  OnFailure,
  StateFormat,
  StateSchemaFiles,
  StoredColumns,
  StoredGroupColumns,
  StoredRows,
  StoredVersion
}
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFileManager,
  CheckpointFiles,
  StoreReports,
  StreamingCheckpointConstants
}
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.Routing

/**
 * A join or an ordered output, as committed by a batch. Tasks receive it to read its partitions.
 *
 * @param description description of a join, or that of an ordered output as converted by
 *   [[StoredOrder]]
 * @param isOrder whether it is an ordered output. All its rows are on the side [[StoredOrder.Held]]
 * @param routing placement of its rows in the partitions
 * @param rows columns of each side's rows
 * @param metadata the metadata beside its state
 * @param version the number of its version
 * @param recordsIds whether the checkpoint records IDs of versions
 */
private[streamjoin] final case class StoredJoin(
    operator: Long,
    partitions: Int,
    description: JoinDescription,
    isOrder: Boolean,
    routing: Routing,
    rows: BySide[StructType],
    metadata: OperatorStateMetadataV2,
    version: Long,
    recordsIds: Boolean,
    contents: StoredPartitions
) {

  /** Reads a partition, see [[StateFormat.read]]. */
  def read(partition: Int, hadoopConf: Configuration, inUse: Boolean): StoredRows =
    contents.read(partition, hadoopConf, inUse)

  /** The groups of the column of each limit of a side, for those that have groups. */
  def groups(side: Side): Seq[Option[StoredGroupColumns]] = {
    val known = StoredGroupColumns.read(metadata.operatorPropertiesJson)
    val said = description.times.said.toMap
    description.times.limits(side).map { limit =>
      known.find(_.time.contains(said.getOrElse(limit, limit.name)))
    }
  }

  def sides: Seq[Side] = if (isOrder) Seq(StoredOrder.Held) else Side.both

  /** Value of the column `side`. */
  def called(side: Side): String = if (isOrder) StoredOrder.Called else side.name
}

/** The rows of an operator, by partition. */
private[streamjoin] trait StoredPartitions extends Serializable {

  /** See [[StateFormat.read]]. */
  def read(partition: Int, hadoopConf: Configuration, inUse: Boolean): StoredRows
}

/**
 * Those of an operator of this project.
 *
 * @param versions the version of a partition
 */
private final case class OwnPartitions(
    format: StateFormat,
    routing: Routing,
    versions: Int => StoredVersion
) extends StoredPartitions {

  override def read(partition: Int, hadoopConf: Configuration, inUse: Boolean): StoredRows = {
    val version = versions(partition)
    val found = format.read(version, hadoopConf, inUse)
    val hot = Some(routing).collect { case Routing.ByKeyAndTime(_, hot) => hot }
    OnFailure(found.close()) {
      HotKeySums(HotKeySums.of(hot), None).check(
        version.store.storeCheckpointLocation().toString,
        found.numbers.get(HotKeySums.Name)
      )
    }
    found
  }
}

/**
 * The joins and ordered outputs in a checkpoint, as of a batch. Nothing in the checkpoint is
 * written or locked.
 */
private[streamjoin] final class StoredJoins(
    session: SparkSession,
    location: String,
    asOf: Option[Long]
) {

  private val hadoopConf = session.sessionState.newHadoopConf()
  // executors may have another working directory
  val root: Path = qualified(location)
  private val state = new Path(root, StreamingCheckpointConstants.DIR_NAME_STATE)
  private lazy val manager = CheckpointFileManager.create(root, hadoopConf)

  private val commits = {
    val folder = new Path(root, StreamingCheckpointConstants.DIR_NAME_COMMITS)
    if (!readable("commits")(manager.exists(folder))) throw absent(notACheckpoint)
    CheckpointFiles.commits(session, folder)
  }

  /** The absolute path of a location, with its file system. */
  def qualified(location: String): Path = {
    val path = new Path(location)
    path.getFileSystem(hadoopConf).makeQualified(path)
  }

  /** The batch that is read: the requested one, or the last committed one. */
  val batch: Long = {
    val kept = commits.listBatchesOnDisk.sorted
    if (kept.isEmpty) throw absent("no committed batch")
    asOf.foreach { b =>
      if (!kept.contains(b)) {
        throw absent(s"no batch $b. It has batches ${kept.head} to ${kept.last}")
      }
    }
    asOf.getOrElse(kept.last)
  }

  private def ofBatch = {
    val folder = new Path(root, StreamingCheckpointConstants.DIR_NAME_OFFSETS)
    readable(s"offsets/$batch") {
      CheckpointFiles.offsets(session, folder).offsetSeqMetadataForBatchId(batch)
    }
  }

  /** Start time of the batch, by the clock of the query that ran it. */
  def batchTimeMs: Option[Long] = ofBatch.map(_.batchTimestampMs)

  /** Spark's watermark by which the batch evicted rows. */
  def batchWatermarkMs: Option[Long] = ofBatch.map(_.batchWatermarkMs)

  private def idsOfVersions =
    readable(s"commits/$batch")(commits.get(batch)).flatMap(_.stateUniqueIds)

  /** Whether the batch has recorded IDs of versions. */
  def recordsIds: Boolean = idsOfVersions.exists(_.nonEmpty)

  /** All joins and ordered outputs of this project, by ascending number. */
  lazy val all: Seq[StoredJoin] = operators.flatMap { operator =>
    readable(s"the operator name of state/$operator")(join(operator))
  }

  /** The numbers of the operators with state, also of those of Spark. */
  private def operators: Seq[Long] = LocalCheckpointFiles.numbers(manager, state)

  /** The stateful operators of Spark, with their names in progress reports. */
  def others: Seq[(Long, String)] = {
    val own = all.map(_.operator).toSet
    operators.filterNot(own).map { operator =>
      operator -> readable(s"what state/$operator says of its operator") {
        metadata(operator)
          .orElse(CheckpointFiles.operatorMetadata(
            folder(operator),
            hadoopConf,
            batch,
            version = 1
          ))
          .get.operatorInfo.operatorName
      }
    }
  }

  /** The join or ordered output with this number, or all of them if no number is given. */
  def of(operator: Option[Long]): Seq[StoredJoin] = {
    val found = all.filter(join => operator.forall(_ == join.operator))
    if (all.isEmpty) throw absent("no state of a streamJoin")
    if (found.isEmpty) {
      throw absent(s"no streamJoin with the number ${operator.get}. It has ${numbers(all)}")
    }
    found
  }

  /** Describes a location without a committed batch. */
  private def notACheckpoint: String = {
    val files = root.getFileSystem(hadoopConf)
    def is(name: String) = files.exists(new Path(root, name))
    if (!files.exists(root)) "no such folder. Give the checkpointLocation of the query"
    else if (
      is(StreamingCheckpointConstants.DIR_NAME_STATE) &&
      !is(StreamingCheckpointConstants.DIR_NAME_OFFSETS)
    )
      "a state without offsets, as after an interrupted call of streamjoin.rescale or " +
        "streamjoin.evolve. Delete the folder, and repeat the call"
    else if (is("metadata")) "no committed batch: the query has not ended its first one"
    else {
      val above = root.getParent
      val hint =
        if (above != null && files.exists(new Path(above, "metadata"))) s", which is $above"
        else ""
      s"no checkpoint, but other files. Give the checkpointLocation of the query$hint"
    }
  }

  def numbers(joins: Seq[StoredJoin]): String = joins.map(_.operator).mkString(", ")

  private def absent(what: String) = StateErrors.stateNotFound(location, what)

  /** Reports a failure to read metadata as an error of the checkpoint, at analysis. */
  private def readable[T](what: String)(read: => T): T =
    try StateErrors.reading(location, what)(read)
    catch { case e: StreamJoinRuntimeException => throw StateErrors.atAnalysis(e) }

  private def join(operator: Long): Option[StoredJoin] = metadata(operator).collect {
    case m: OperatorStateMetadataV2
        if Seq(JoinDescription.Operator, StoredOrder.Operator)
          .contains(m.operatorInfo.operatorName) =>
      join(operator, m)
  }

  private def metadata(operator: Long): Option[OperatorStateMetadata] =
    if (!manager.exists(OperatorStateMetadataV2.metadataDirPath(folder(operator)))) None
    else CheckpointFiles.operatorMetadata(folder(operator), hadoopConf, batch)

  private def folder(operator: Long) = new Path(state, operator.toString)

  private def join(operator: Long, metadata: OperatorStateMetadataV2): StoredJoin = {
    val isOrder = metadata.operatorInfo.operatorName == StoredOrder.Operator
    val json = metadata.operatorPropertiesJson
    val format = JoinDescription.format(json).flatMap(StateFormats.find)
      .getOrElse(throw absent("no state of a streamJoin in a known format"))
    JoinDescription.check(location, json)
    val store = metadata.stateStoreInfo.head
    val rows = schemas(operator, json, store.stateSchemaFilePaths)
    val ids = idsOfVersions.flatMap(_.get(operator))
    val conf = format.settings(settings(ids.nonEmpty))
    // tasks receive no more than these
    val (stateRoot, number) = (state.toString, batch + 1)
    val description = if (isOrder) StoredOrder.read(json) else JoinDescription.read(json)
    val placed = routing(operator, description)
    StoredJoin(
      operator,
      JoinDescription.partitions(json),
      description,
      isOrder,
      placed,
      rows,
      metadata,
      number,
      ids.nonEmpty,
      OwnPartitions(
        format,
        placed,
        partition =>
          StoredVersion(
            StateStoreId(stateRoot, operator, partition),
            number,
            ids.map(_(partition).head),
            rows,
            conf
          )
      )
    )
  }

  private def routing(operator: Long, description: JoinDescription): Routing =
    description.routing match {
      case Routing.ByKey =>
        new HotKeyFiles(folder(operator), hadoopConf).read(batch).fold[Routing](Routing.ByKey)(
          Routing.ByKeyAndTime(Routing.single(description.joinType), _)
        )
      case other => other
    }

  /** Settings of the session, except those that the checkpoint determines. */
  private def settings(ids: Boolean): SQLConf = {
    val own = session.sessionState.conf.clone()
    own.setConf(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION, if (ids) 2 else 1)
    // a reader must not report snapshots to the coordinator of a query, which may not run
    StoreReports.withoutSnapshots(own)
    own
  }

  private def schemas(operator: Long, json: String, noted: List[String]): BySide[StructType] = {
    val file = StateSchemaFiles.here(StateSchemaFiles.folder(folder(operator)), noted.last)
    val families = StateSchemaFiles.read(file, hadoopConf)
    BySide.of { side =>
      val family = families.find(_.colFamilyName == StateFormat.rowsFamily(side)).get
      StoredColumns.read(json, side)
        .getOrElse(family.valueSchema("row").dataType.asInstanceOf[StructType])
    }
  }
}
