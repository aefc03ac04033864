package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.{
  OperatorStateMetadataUtils,
  OperatorStateMetadataV2
}
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFileManager,
  CheckpointFiles,
  StatefulOperatorStateInfo
}

/** Reads the description of an operator in its checkpoint. */
private[streamjoin] object StoredDescription {

  private val begun = new PerOperator[String]

  /**
   * The description with which a state began, in JSON. It is read once in a run.
   *
   * @param operator name of the operator. The description of another one is not read: this is
   *   reported where the whole description is compared
   * @param own the description of the operator, with which a new state begins
   */
  def asBegun(info: StatefulOperatorStateInfo, operator: String, session: SparkSession)(
      own: => String
  ): String = begun.planned(info, session) {
    metadata(info, session.sessionState.newHadoopConf())
      .filter(_.operatorInfo.operatorName == operator)
      .fold(own) { found =>
        JoinDescription.check(info.checkpointLocation, found.operatorPropertiesJson)
        found.operatorPropertiesJson
      }
  }

  /** The metadata of the operator, if there is a state. */
  def metadata(
      info: StatefulOperatorStateInfo,
      hadoopConf: Configuration
  ): Option[OperatorStateMetadataV2] = {
    val folder = new Path(info.checkpointLocation, info.operatorId.toString)
    val path = OperatorStateMetadataV2.metadataDirPath(folder)
    val files = CheckpointFileManager.create(folder, hadoopConf)
    lazy val batches = LocalCheckpointFiles.numbers(files, path)
    // a query makes the folder before the file of its first batch
    if (!files.exists(path) || info.storeVersion == 0 && batches.isEmpty) None
    else {
      StateErrors.reading(path.toString, "the description of a state") {
        // Spark's reader requires the offsets of the batch, which real-time mode writes when the
        // batch has ended
        batches.filter(_ <= info.storeVersion).lastOption
          .fold(CheckpointFiles.operatorMetadata(folder, hadoopConf, info.storeVersion)) { batch =>
            val file = files.open(new Path(path, batch.toString))
            OperatorStateMetadataUtils.readMetadata(file, expectedVersion = 2)
          }
          .collect { case m: OperatorStateMetadataV2 => m }
      }
    }
  }
}
