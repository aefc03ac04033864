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
    // a query makes the folder before the file of its first batch
    if (!files.exists(path) || info.storeVersion == 0 && files.list(path).isEmpty) None
    else {
      StateErrors.reading(path.toString, "the description of a state") {
        latest(files.list(path).map(_.getPath).toSeq, info.storeVersion)
          .fold(CheckpointFiles.operatorMetadata(folder, hadoopConf, info.storeVersion))(file =>
            OperatorStateMetadataUtils.readMetadata(files.open(file), expectedVersion = 2)
          )
          .collect { case m: OperatorStateMetadataV2 => m }
      }
    }
  }

  /**
   * The last file up to a batch. Spark's reader requires the offsets of the batch, which real-time
   * mode writes when the batch has ended.
   */
  private def latest(files: Seq[Path], batch: Long): Option[Path] =
    files.flatMap(file => file.getName.toLongOption.map(_ -> file)).filter(_._1 <= batch)
      .maxByOption(_._1).map(_._2)
}
