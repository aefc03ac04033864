package org.apache.spark.sql.streamjoin.rewrite

import java.util.UUID

import org.apache.spark.{HashPartitioner, TaskContext}
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.UnsafeRowSerializer
import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.streamjoin.checkpoint.formats.StateFormats
import org.apache.spark.sql.streamjoin.checkpoint.{StoredRows, StoredVersion}
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

import io.streamjoin.model.BySide

/**
 * Writes the rows of an operator as the state of a new checkpoint, in a Spark job: tasks read the
 * rows, a shuffle distributes them, and one task writes each new partition.
 *
 * @param partitions their number
 */
private[streamjoin] final class StateWriter(session: SparkSession, partitions: Int) {
  import StateWriter._

  private val context = session.sparkContext
  private val hadoopConf =
    context.broadcast(new SerializableConfiguration(session.sessionState.newHadoopConf()))

  /** Reads all rows, and writes nothing. */
  def survey[F](reader: RowReader[F]): Seq[Survey[F]] = {
    val to = partitions
    opened(reader).map { case (partition, stored) =>
      Survey.of(partition, stored, reader.mover(partition), to)
    }.collect().toSeq
  }

  /**
   * Writes the new partitions.
   *
   * @param contents what each new partition has beside its rows
   * @return the IDs of the versions by partition, if the checkpoint records IDs
   */
  def write(reader: RowReader[_], into: NewState, contents: Seq[Contents]): Option[Seq[String]] = {
    val (state, conf) = (into, hadoopConf)
    val ids = Option.when(state.recordsIds)(contents.map(_ => UUID.randomUUID().toString))
    val all = context.broadcast(contents.zipWithIndex.map { case (c, p) =>
      c.copy(id = ids.map(_(p)))
    })
    val format = StateFormats.of(state.format)
    val settings = format.settingsOfNew(session.sessionState.conf)
    val moved = new ShuffledRDD[Int, InternalRow, InternalRow](
      opened(reader).flatMap { case (partition, stored) =>
        TaskContext.get().addTaskCompletionListener[Unit](_ => stored.close())
        val packed = new MovedRow
        stored.rows.flatMap(reader.mover(partition)).map { case (target, row) =>
          target -> (packed(row): InternalRow)
        }
      },
      new HashPartitioner(partitions)
    ).setSerializer(new UnsafeRowSerializer(MovedRow.Fields))
    moved.foreachPartition { packed =>
      val partition = TaskContext.getPartitionId()
      val own = all.value(partition)
      val store = StateStoreId(state.root, state.operator, partition)
      val rows = packed.map(row => MovedRow.read(row._2, state.rows(_).length))
      format.write(
        StoredVersion(store, state.version, own.id, state.rows, settings),
        StoredRows(own.numbers, own.evicted.map(_.toArray), rows, () => ()),
        own.count,
        conf.value.value
      )
    }
    ids
  }

  /** The stored rows of each partition. */
  private def opened(reader: RowReader[_]): RDD[(Int, StoredRows)] = {
    val conf = hadoopConf
    val parts = reader.join.fold(0)(_.partitions)
    context.parallelize(0 until parts, math.max(1, parts)).map { partition =>
      partition -> reader.join.get.read(partition, conf.value.value, inUse = false)
    }
  }
}

private[streamjoin] object StateWriter {

  /**
   * The state to write.
   *
   * @param root the folder of the states of the new checkpoint
   * @param version the version that all partitions get
   * @param recordsIds whether the checkpoint records IDs of versions
   * @param format the name of the state format
   * @param rows columns of each side's rows
   */
  final case class NewState(
      root: String,
      operator: Long,
      version: Long,
      recordsIds: Boolean,
      format: String,
      rows: BySide[StructType]
  )

  /**
   * What a new partition has beside its rows.
   *
   * @param evicted the watermarks of all limits
   * @param count the number of its rows
   * @param id ID of the version
   */
  final case class Contents(
      numbers: Map[String, Long],
      evicted: BySide[Seq[Long]],
      count: Long,
      id: Option[String] = None
  )
}
