package org.apache.spark.sql.streamjoin.checkpoint

import java.util.UUID

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.{
  OperatorStateMetadataV2,
  StateSchemaCompatibilityChecker,
  StateSchemaValidationResult,
  StateStoreColFamilySchema
}
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.spark.{CheckpointFileManager, StatefulOperatorStateInfo}

/**
 * Writes the schemas of the state beside it, or validates them against the stored ones.
 *
 * Spark's operators inherit a method for this. Its signature differs between Spark 4.2 and 4.3, so
 * this class calls the method below it.
 *
 * @param fits throws if another operator wrote the state. Returns false if the state has another
 *   format: then the schemas are written anew
 * @param folder of the schemas
 */
private[streamjoin] final class StateSchemaFiles(
    fits: OperatorStateMetadataV2 => Boolean,
    info: StatefulOperatorStateInfo,
    schemas: Iterable[StateStoreColFamilySchema],
    folder: Path,
    hadoopConf: Configuration
) {
  import StateSchemaFiles._

  /** Validates the schemas, and writes them if they are new. */
  def validate(batchId: Long, session: SparkSession): List[StateSchemaValidationResult] = {
    val written = StoredDescription.metadata(info, hadoopConf)
    if (written.isEmpty && batchId > 0) {
      throw StateErrors.incompatibleCheckpoint(
        info.checkpointLocation,
        "it does not name the operator that wrote it, like checkpoints of Spark before 4.0",
        "none",
        JoinDescription.Operator
      )
    }
    List(
      StateSchemaCompatibilityChecker.validateAndMaybeEvolveStateSchema(
        info,
        hadoopConf,
        schemas.toList,
        session.sessionState,
        SchemaVersion,
        oldSchemaFilePaths = written.fold(List.empty[Path])(fitting),
        newSchemaFilePath = Some(new Path(folder, s"${batchId}_${UUID.randomUUID()}"))
      )
    )
  }

  /**
   * Checks a stored state against the operator. Writes nothing.
   *
   * @param written stored metadata of the operator
   * @return the stored schema files that remain valid
   */
  def fitting(written: OperatorStateMetadataV2): List[Path] =
    ExcludedRules.hinted(written.operatorPropertiesJson) {
      val isSame = fits(written)
      val files = written.stateStoreInfo.head.stateSchemaFilePaths.map(here(folder, _))
      files.lastOption.foreach(requireSameColumns)
      if (isSame) files else Nil
    }

  /**
   * Compares the names of columns. Spark compares only types and positions, and would read
   * exchanged columns as each other.
   */
  private def requireSameColumns(old: Path): Unit = {
    val found = read(old, hadoopConf)
    for (now <- schemas; before <- found.find(_.colFamilyName == now.colFamilyName)) {
      if (!DataTypeUtils.sameType(before.valueSchema, now.valueSchema)) {
        throw StateErrors.otherQuery(
          info.checkpointLocation,
          "its rows have other columns, or in another order",
          before.valueSchema.sql,
          now.valueSchema.sql
        )
      }
    }
  }
}

private[streamjoin] object StateSchemaFiles {

  private val SchemaVersion = 3

  /** The schemas in a file. */
  def read(file: Path, hadoopConf: Configuration): List[StateStoreColFamilySchema] =
    StateErrors.reading(file.toString, "the schema of a state") {
      Using.resource(CheckpointFileManager.create(file.getParent, hadoopConf).open(file))(
        StateSchemaCompatibilityChecker.readSchemaFile
      )
    }

  /** Folder of an operator's schemas, as in Spark. */
  def folder(operator: Path): Path = new Path(new Path(operator, "_stateSchema"), "default")

  /**
   * The current path of a schema file. Spark stores absolute paths, and a checkpoint may be moved.
   */
  def here(folder: Path, noted: String): Path = new Path(folder, new Path(noted).getName)
}
