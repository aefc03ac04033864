package org.apache.spark.sql.streamjoin.physical.stateful.operator

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataV2
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.{
  CheckpointFileManager,
  CheckpointFiles,
  StatefulOperatorStateInfo
}

/** Reads the description of an operator in its checkpoint, for properties that must not change. */
private[physical] object StoredDescription {

  private val begun = new PerOperator[String]

  /**
   * The description with which a state began, in JSON. It is read once in a run.
   *
   * @param own the description of the operator, with which a new state begins. It also replaces one
   *   that cannot be read: this is reported where the whole description is compared
   */
  def asBegun(info: StatefulOperatorStateInfo, session: SparkSession)(own: => String): String =
    begun.planned(info, session) {
      Try(metadata(info, session)).toOption.flatten.fold(own)(_.operatorPropertiesJson)
    }

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
