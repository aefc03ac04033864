package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFileManager,
  CheckpointFiles,
  OperatorStateMetadataV2,
  StatefulOperatorStateInfo
}

/** Reads the description of an operator in its checkpoint, for properties that must not change. */
private[physical] object StoredDescription {

  /** The description beside the state, in JSON, if there is one. */
  def of(info: StatefulOperatorStateInfo, session: SparkSession): Option[String] =
    metadata(info, session).map(_.operatorPropertiesJson)

  /** The metadata of the operator, if there is a state. */
  def metadata(
      info: StatefulOperatorStateInfo,
      session: SparkSession
  ): Option[OperatorStateMetadataV2] = {
    val folder = new Path(info.checkpointLocation, info.operatorId.toString)
    val hadoopConf = session.sessionState.newHadoopConf()
    val manager = CheckpointFileManager.create(folder, hadoopConf)
    if (!manager.exists(OperatorStateMetadataV2.metadataDirPath(folder))) None
    else {
      CheckpointFiles.operatorMetadata(folder, hadoopConf, info.storeVersion)
        .collect { case m: OperatorStateMetadataV2 => m }
    }
  }
}
