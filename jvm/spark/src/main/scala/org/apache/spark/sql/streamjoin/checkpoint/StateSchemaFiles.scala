package org.apache.spark.sql.streamjoin.checkpoint

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.v2.state.StateDataSourceReadOperatorMetadataFailure
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFiles,
  OperatorStateMetadata,
  OperatorStateMetadataReader,
  OperatorStateMetadataV2,
  StateSchemaCompatibilityChecker,
  StateSchemaValidationResult,
  StateStoreColFamilySchema,
  StateStoreId,
  StateStoreProviderId,
  StatefulOperatorStateInfo
}

/**
 * Writes the schemas of the state beside it, or checks them against those that are there.
 *
 * Spark's operators inherit the same; its signature differs between Spark 4.2 and 4.3, so it is
 * called one level below.
 */
private[streamjoin] object StateSchemaFiles {

  private val SchemaVersion = 3
  private val MetadataVersion = 2

  /**
   * @param fits throws if the operator that has written the state was another; says whether the state is
   *   of the same format, else it is described anew
   */
  def validate(
      fits: OperatorStateMetadata => Boolean,
      info: StatefulOperatorStateInfo,
      schemas: Iterable[StateStoreColFamilySchema],
      folder: Path,
      batchId: Long,
      hadoopConf: Configuration,
      session: SparkSession
  ): List[StateSchemaValidationResult] = {
    val old = found(info, batchId, hadoopConf)
      .fold(List.empty[Path])(fitting(fits, _, info, schemas, folder, hadoopConf))
    List(
      StateSchemaCompatibilityChecker.validateAndMaybeEvolveStateSchema(
        info,
        hadoopConf,
        schemas.toList,
        session.sessionState,
        SchemaVersion,
        oldSchemaFilePaths = old,
        newSchemaFilePath = Some(new Path(folder, s"${batchId}_${UUID.randomUUID()}"))
      )
    )
  }

  /**
   * Checks a stored state against the operator; writes nothing.
   *
   * @param fits as for [[validate]]
   * @param written stored metadata of the operator
   * @return the schema files that describe the state from now on, too
   */
  def fitting(
      fits: OperatorStateMetadata => Boolean,
      written: OperatorStateMetadataV2,
      info: StatefulOperatorStateInfo,
      schemas: Iterable[StateStoreColFamilySchema],
      folder: Path,
      hadoopConf: Configuration
  ): List[Path] = ExcludedRules.hinted(written.operatorPropertiesJson) {
    val isSame = fits(written)
    val files = written.stateStoreInfo.head.stateSchemaFilePaths.map(here(folder, _))
    sameColumns(info, schemas, files, hadoopConf)
    if (isSame) files else Nil
  }

  /** Spark compares types and places only: columns that changed places would be read as each other. */
  private def sameColumns(
      info: StatefulOperatorStateInfo,
      schemas: Iterable[StateStoreColFamilySchema],
      old: List[Path],
      hadoopConf: Configuration
  ): Unit = if (old.nonEmpty) {
    val store = StateStoreId(info.checkpointLocation, info.operatorId, 0)
    val found = CheckpointFiles
      .schemas(StateStoreProviderId(store, info.queryRunId), old, hadoopConf)
      .readSchemaFiles()
    for (now <- schemas; before <- found.get(now.colFamilyName).flatMap(_.lastOption)) {
      if (!DataTypeUtils.sameType(before.valueSchema, now.valueSchema)) {
        throw StateErrors.incompatibleCheckpoint(
          info.checkpointLocation,
          "its rows have other columns, or in another order",
          before.valueSchema.sql,
          now.valueSchema.sql
        )
      }
    }
  }

  /** Where the schemas of an operator are, as Spark has it. */
  def folder(operator: Path): Path = new Path(new Path(operator, "_stateSchema"), "default")

  /** A file that Spark has noted by its whole path, where the checkpoint lies now. */
  def here(folder: Path, noted: String): Path = new Path(folder, new Path(noted).getName)

  private def found(
      info: StatefulOperatorStateInfo,
      batchId: Long,
      hadoopConf: Configuration
  ): Option[OperatorStateMetadataV2] = {
    val operator = new Path(info.checkpointLocation, info.operatorId.toString)
    val metadata =
      try
        OperatorStateMetadataReader
          .createReader(operator, hadoopConf, MetadataVersion, batchId)
          .read()
      catch {
        // nothing has been written before the first batch
        case _: Exception if batchId == 0 => None
        case e: StateDataSourceReadOperatorMetadataFailure =>
          throw StateErrors.incompatibleCheckpoint(
            info.checkpointLocation,
            "it does not say by which operator it was written, as those of Spark before 4.0",
            "none",
            JoinDescription.Operator,
            e
          )
      }
    metadata.collect { case m: OperatorStateMetadataV2 => m }
  }
}
