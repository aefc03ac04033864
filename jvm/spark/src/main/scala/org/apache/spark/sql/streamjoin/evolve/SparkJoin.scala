package org.apache.spark.sql.streamjoin.evolve

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Implicits._
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.v2.state.StateStoreInputPartition
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataV2
import org.apache.spark.sql.streamjoin.checkpoint.pending.{
  StoredJoin,
  StoredJoins,
  StoredPartitions
}
import org.apache.spark.sql.streamjoin.checkpoint.{StoredRow, StoredRows}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{BaseWatermarks, StoredLayout}
import org.apache.spark.sql.streamjoin.spark.StoreReports
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.Routing

/**
 * A join of Spark in a checkpoint. Spark's own source of states, `statestore`, reads its rows.
 *
 * Spark stores neither the type nor the condition of a join. So the join is described as the one of
 * the changed query that continues it.
 */
private[evolve] final class SparkJoin(session: SparkSession, stored: StoredJoins, val id: Long) {

  private val reading = session.cloneSession()
  // a reader must not report snapshots to the coordinator of a query, which may not run
  StoreReports.withoutSnapshots(reading.sessionState.conf)
  private val sides = BySide.of(new SparkSide(_))

  def partitions: Int = sides.left.partitions.length

  def continuedBy(now: ChangedOperator, layout: StoredLayout): StoredOperator = {
    // Spark's join also drops the rows at the watermark with which its last batch evicted
    val watermark = stored.batchWatermarkMs.filter(_ > 0).map(_ * 1000L + 1)
    val watermarks = now.exec.bases.zipWithIndex.collect {
      case (b: BaseColumn.Imposed, i) if !b.imposed =>
        watermark.map(BaseWatermarks.watermark(i) -> _)
    }
    StoredOperator(
      StoredJoin(
        id,
        partitions,
        layout.description,
        isOrder = false,
        Routing.ByKey,
        sides.map(_.columns),
        now.exec.operatorStateMetadata(Nil).asInstanceOf[OperatorStateMetadataV2],
        stored.batch + 1,
        stored.recordsIds,
        SparkRows(sides.map(_.partitions), sides.map(_.factory), watermarks.flatten.toMap)
      ),
      isSparks = true
    )
  }

  private final class SparkSide(side: Side) {
    private val table = reading.read.format("statestore")
      .option("path", stored.root.toString).option("batchId", stored.batch)
      .option("operatorId", id).option("joinSide", side.name)
      .load()
    private val scan = table.queryExecution.analyzed.collectFirst { case r: DataSourceV2Relation =>
      r.table.asReadable.newScanBuilder(r.options).build().toBatch
    }.get

    val columns: StructType = table.schema("value").dataType.asInstanceOf[StructType]

    val partitions: Seq[InputPartition] = scan.planInputPartitions().toSeq
      .sortBy(_.asInstanceOf[StateStoreInputPartition].partition)

    val factory: PartitionReaderFactory = scan.createReaderFactory()
  }
}

private[evolve] object SparkJoin {

  /** The name of Spark's join in the metadata of its state. */
  val Operator: String = "symmetricHashJoin"

  /** The source of states of Spark 4.0 does not find the versions of a join by their IDs. */
  def isReadable(stored: StoredJoins): Boolean =
    !stored.recordsIds || !SPARK_VERSION.startsWith("4.0.")
}

/**
 * The rows of a join of Spark. Behind its columns, a row has the flag of its matches.
 *
 * @param numbers the watermarks of the source columns, as a join of this project stores them
 */
private final case class SparkRows(
    partitions: BySide[Seq[InputPartition]],
    factories: BySide[PartitionReaderFactory],
    numbers: Map[String, Long]
) extends StoredPartitions {

  override def read(partition: Int, hadoopConf: Configuration, inUse: Boolean): StoredRows = {
    val readers = mutable.Buffer.empty[PartitionReader[InternalRow]]
    def rows(side: Side): Iterator[StoredRow] = {
      val reader = factories(side).createReader(partitions(side)(partition))
      readers += reader
      Iterator.continually(reader).takeWhile(_.next()).map { r =>
        val row = r.get().get(1, null).asInstanceOf[UnsafeRow]
        StoredRow(side, 0L, 0L, Array.empty, row.getBoolean(row.numFields - 1), row)
      }
    }
    StoredRows(
      numbers,
      _ => Array.empty,
      Side.both.iterator.flatMap(rows),
      () => readers.foreach(_.close())
    )
  }
}
