package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  StateStore,
  StateStoreColFamilySchema,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{
  StateFormat,
  StateShape,
  StoredRow,
  StoredRows,
  StoredState,
  StoredVersion
}
import org.apache.spark.sql.types._

import io.streamjoin.model.Side
import io.streamjoin.state.segment.history.{ChangeRow, History}

/**
 * State format with rows in memory, in segments by expiry, spilled to the local disk if memory is
 * short. Each batch writes its changes to one file of the checkpoint.
 */
private[checkpoint] object SegmentFormat extends StateFormat {

  override val name: String = StateFiles.Format

  private val rowKey: StructType = new StructType().add("id", LongType, nullable = false)

  override protected def families(
      side: Side,
      row: StructType
  ): Seq[StateStoreColFamilySchema] = Seq(
    StateStoreColFamilySchema(
      StateFormat.rowsFamily(side),
      0,
      rowKey,
      0,
      StateFormat.rowValue(row),
      Some(NoPrefixKeyStateEncoderSpec(rowKey))
    )
  )

  override protected def provider: Class[SegmentStateStoreProvider] =
    classOf[SegmentStateStoreProvider]

  override protected def options(session: SQLConf): Map[String, String] =
    LocalDisk.options(session)

  override def read(
      version: StoredVersion,
      hadoopConf: Configuration,
      inUse: Boolean
  ): StoredRows = {
    val found = reader(version, hadoopConf)
    if (inUse) found.readAll() else found.read()
  }

  private def reader(version: StoredVersion, hadoopConf: Configuration): SegmentReader =
    new SegmentReader(files(version.store, version.conf, hadoopConf), version)

  private def files(of: StateStoreId, conf: StateStoreConf, hadoopConf: Configuration): StateFiles =
    new StateFiles(of.storeCheckpointLocation(), hadoopConf, conf.compressionCodec)

  /** Whether the version exists. */
  def holds(version: StoredVersion, hadoopConf: Configuration): Boolean =
    reader(version, hadoopConf).exists()

  /** Buffers one row. */
  override def write(
      version: StoredVersion,
      content: StoredRows,
      count: Long,
      hadoopConf: Configuration
  ): Unit = {
    val into = files(version.store, version.conf, hadoopConf)
    try {
      into.create()
      val file =
        StateFile(version.number, version.checkpointId.getOrElse(StateFile.newId(1)), 0)
      into.write(file, before = None) { out =>
        StoredMap.write(content.numbers, out)
        History.write(out, count, content.evicted) { write =>
          val change = new ChangeRow
          content.rows.foreach { row =>
            fill(change, row)
            write(change)
          }
        }
      }
    } finally into.close()
  }

  private def fill(change: ChangeRow, row: StoredRow): Unit = {
    change.side = row.side
    change.matched = row.matched
    change.key = row.key
    change.time = row.time
    change.limits = row.limits
    change.bytes = row.row.getBytes
    change.size = change.bytes.length
  }

  override def open(store: StateStore, shape: StateShape): StoredState = store match {
    case s: SegmentStateStore =>
      val rows = s.open(shape)
      def flush(): Long = {
        rows.check()
        rows.number()
      }
      StoredState(rows, () => flush(), () => rows.spilled, () => s.letGo())
    case other => throw new IllegalArgumentException(s"$other has no segments")
  }
}
