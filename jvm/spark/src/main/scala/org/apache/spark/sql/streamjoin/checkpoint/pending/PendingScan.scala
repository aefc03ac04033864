package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.internal.connector.SupportsPushDownCatalystFilters
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** Prunes columns, and skips parts and sides that a filter rejects completely. */
private[pending] final class PendingScan(
    session: SparkSession,
    location: String,
    private var parts: Seq[PendingPart],
    all: StructType
) extends ScanBuilder
    with SupportsPushDownRequiredColumns
    with SupportsPushDownCatalystFilters
    with Scan
    with Batch {

  private var columns = all

  override def pruneColumns(required: StructType): Unit =
    columns = StructType(required.map(field => all(field.name)))

  override def pushFilters(filters: Seq[Expression]): Seq[Expression] = {
    val (settled, others) = filters.partition(PendingPart.settled)
    parts = settled.foldLeft(parts)((left, f) => left.map(_.where(f))).filter(_.sides.nonEmpty)
    others
  }

  /** Empty: filters are pushed as Catalyst expressions. [[description]] lists what remains. */
  override def pushedFilters: Array[Predicate] = Array.empty

  override def build(): Scan = this

  override def readSchema(): StructType = columns

  override def toBatch: Batch = this

  override def description(): String = {
    val joins = parts.groupBy(_.join.operator).toSeq.sortBy(_._1).map { case (operator, of) =>
      val sides = of.flatMap(_.sides.values.map(_.called)).distinct.sorted.mkString(" and ")
      s"join $operator, $sides, partitions ${of.map(_.partition).mkString(" ")}"
    }
    s"${PendingOptions.Format} $location: ${if (joins.isEmpty) "nothing" else joins.mkString("; ")}"
  }

  override def planInputPartitions(): Array[InputPartition] = parts.toArray

  override def createReaderFactory(): PartitionReaderFactory = new PendingReaders(
    session.sparkContext
      .broadcast(new SerializableConfiguration(session.sessionState.newHadoopConf())),
    columns.map(field => all.fieldIndex(field.name))
  )
}

/** Creates readers on executors. */
private final class PendingReaders(
    hadoopConf: Broadcast[SerializableConfiguration],
    columns: Seq[Int]
) extends PartitionReaderFactory {

  override def createReader(part: InputPartition): PartitionReader[InternalRow] =
    part.asInstanceOf[PendingPart].read(hadoopConf.value.value, columns)
}
