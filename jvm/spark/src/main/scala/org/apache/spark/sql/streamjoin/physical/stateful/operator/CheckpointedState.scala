package org.apache.spark.sql.streamjoin.physical.stateful.operator

import scala.reflect.ClassTag

import org.apache.hadoop.conf.Configuration
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeMap, Expression}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.state.{
  OperatorInfoV1,
  OperatorStateMetadata,
  OperatorStateMetadataV2,
  StateSchemaValidationResult,
  StateStoreId,
  StateStoreMetadataV2
}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{ColumnOrigin, InputSource}
import org.apache.spark.sql.streamjoin.spark.{StateStoreWriter, StatefulOperatorStateInfo}
import org.apache.spark.sql.streamjoin.spark.StreamingSymmetricHashJoinHelper.StateStoreAwareZipPartitionsHelper
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.checkpoint.formats.{
  CheckpointFit,
  SegmentsIntoRocksDB,
  StateFormats
}
import org.apache.spark.sql.streamjoin.checkpoint.{
  ExcludedRules,
  JoinDescription,
  StateFormat,
  StateSchemaFiles,
  StoredBases,
  StoredColumns,
  StoredDescription,
  StoredGroupColumns,
  StoredReference,
  StoredReferences,
  StoredSources
}
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}
import org.apache.spark.sql.streamjoin.physical.stateful.times.StreamJoinInputExec
import org.apache.spark.sql.types.StructType
import org.json4s.JsonDSL._

import io.streamjoin.model.{BySide, Side}

/**
 * Checkpoint duties of every stateful operator of this project:
 *
 *  - Its state has a [[StateFormat]].
 *  - A description of the operator is stored beside the state.
 *  - The operator refuses the checkpoint of another operator before the first batch.
 */
private[streamjoin] trait CheckpointedState extends StateStoreWriter {

  /**
   * The description of the operator that is stored beside its state, in JSON, with the version of
   * its format.
   */
  protected def description(format: StateFormat): String

  /** The description with which the state began, or begins with this operator. */
  protected final def descriptionAsBegun(info: StatefulOperatorStateInfo): String =
    StoredDescription.asBegun(info, shortName, session)(description(format))

  /** The inputs, with their names in the description. */
  protected def inputs: Seq[(String, SparkPlan)]

  /** The sources of each input in their order, with the name of the input. */
  private[streamjoin] final def sources: Seq[(String, Seq[InputSource])] =
    inputs.map { case (name, input) =>
      name -> StreamJoinInputExec.of(input).toSeq.flatMap(_.sources)
    }

  /** The columns of the stored rows. */
  protected def storedColumns(side: Side): Seq[Attribute]

  /**
   * The expressions by which rows are found, matched and ordered, each with its text in the
   * description or the number of its key.
   */
  protected def identifying: Seq[(String, Expression)]

  private def storedRows(side: Side): StructType =
    DataTypeUtils.fromAttributes(storedColumns(side))

  /** How it stores rows; none if only the operator itself can write its state. */
  private[streamjoin] def layout: Option[StoredLayout] = None

  protected final def format: StateFormat =
    StateFormats.of(conf.getConf(StreamJoinConf.StateFormat))

  /** Access of the tasks of this batch to the state of their partitions. */
  protected final def partitionState: PartitionState =
    new PartitionState(
      getStateInfo,
      format,
      conf.getConf(StreamJoinConf.MaxBufferedRows),
      format.settings(conf),
      HadoopSettings.broadcast(session, getStateInfo.queryRunId),
      Option.when(hasCheckpointIds)(checkpointInfoAccumulator),
      if (hasCheckpointIds) None else SegmentsIntoRocksDB.of(format, conf)
    )

  /**
   * Runs one task per partition, preferably on the executor that has the state of the partition. In
   * local mode there is one process only, so Spark need not look up the location.
   */
  protected final def perPartition[T: ClassTag](left: RDD[InternalRow], right: RDD[InternalRow])(
      task: (Int, Iterator[InternalRow], Iterator[InternalRow]) => Iterator[T]
  ): RDD[T] =
    left.stateStoreAwareZipPartitions(
      right,
      getStateInfo,
      if (session.sparkContext.isLocal) Nil else stores,
      session.sessionState.streamingQueryManager.stateStoreCoordinator
    )(task)

  private def stores: Seq[String] = Seq(StateStoreId.DEFAULT_STORE_NAME)

  override def operatorStateMetadataVersion: Int = 2

  override def operatorStateMetadata(
      stateSchemaPaths: List[List[String]]
  ): OperatorStateMetadata = {
    val info = getStateInfo
    OperatorStateMetadataV2(
      OperatorInfoV1(info.operatorId, shortName),
      stores
        .zip(stateSchemaPaths)
        .map { case (name, paths) => StateStoreMetadataV2(name, 0, info.numPartitions, paths) }
        .toArray,
      JoinDescription.stored(described, info.numPartitions)
    )
  }

  /** The description for the metadata of the operator, in JSON. */
  private[streamjoin] final def described: String =
    JoinDescription.and(
      description(format),
      StoredSources.part(sources) ~ StoredBases.part(baseSources) ~
        StoredColumns.part(storedColumns, originOf) ~
        StoredReferences.part(storedReferences) ~ ExcludedRules.part ~
        StoredGroupColumns.part(groupColumns)
    )

  /** The columns by which rows are found, matched and ordered. */
  private[streamjoin] def storedReferences: Seq[StoredReference] =
    StoredReferences.of(identifying, origins.get)

  /** Where a column of an input is from. */
  private[streamjoin] final def originOf(column: Attribute): Option[ColumnOrigin] =
    origins.get(column).map(_._2)

  /** Where the columns of the inputs are from, each with the name of its input. */
  @transient private lazy val origins: AttributeMap[(String, ColumnOrigin)] = AttributeMap(for {
    (name, input) <- inputs
    (column, origin) <- StreamJoinInputExec.of(input).toSeq.flatMap(_.origins)
  } yield column -> (name -> origin))

  /** The places of the sources of each source column, among those of all inputs. */
  private[streamjoin] def baseSources: Seq[Set[Int]]

  /** The groups of its source columns. */
  protected def groupColumns: Seq[StoredGroupColumns] = Nil

  override def validateNewMetadata(
      oldMetadata: OperatorStateMetadata,
      newMetadata: OperatorStateMetadata
  ): Unit =
    CheckpointFit.check(
      getStateInfo.checkpointLocation,
      oldMetadata,
      newMetadata,
      !hasCheckpointIds
    )

  private def hasCheckpointIds: Boolean =
    StatefulOperatorStateInfo.enableStateStoreCheckpointIds(conf)

  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int
  ): List[StateSchemaValidationResult] =
    CheckpointFit.guard(getStateInfo.checkpointLocation) {
      schemaFiles(hadoopConf).validate(batchId, session)
    }

  private def schemaFiles(hadoopConf: Configuration) = new StateSchemaFiles(
    goesOnFrom,
    getStateInfo,
    format.schemas(storedRows),
    stateSchemaDirPath(),
    hadoopConf
  )

  /** The name of its state format. */
  private[streamjoin] final def stateFormat: String = format.name

  private[streamjoin] final def storedSchema: BySide[StructType] = BySide.of(storedRows)

  /** Whether it could continue from the state with this metadata. */
  private[streamjoin] final def continuesFrom(written: OperatorStateMetadata): Boolean =
    try {
      validateNewMetadata(written, operatorStateMetadata(Nil))
      true
    } catch { case e: StreamJoinRuntimeException if StateErrors.isIncompatible(e) => false }

  /**
   * Refuses the state of another operator, as the first batch of a run does. It writes nothing.
   * Spark itself refuses the state of another kind of operator.
   *
   * @return the stored description, in JSON
   */
  private[physical] final def requireFit(): Option[String] = {
    val hadoopConf = session.sessionState.newHadoopConf()
    val written = StoredDescription.metadata(getStateInfo, hadoopConf)
      .filter(_.operatorInfo.operatorName == shortName)
    CheckpointFit.guard(getStateInfo.checkpointLocation) {
      written.foreach(schemaFiles(hadoopConf).fitting)
    }
    written.map(_.operatorPropertiesJson)
  }

  /**
   * Refuses the state of another operator.
   *
   * @return whether the stored schemas remain valid; not so if the state changes its format
   */
  private def goesOnFrom(written: OperatorStateMetadataV2): Boolean = {
    validateNewMetadata(written, operatorStateMetadata(Nil))
    !SegmentsIntoRocksDB.applies(written.operatorPropertiesJson, described)
  }
}
