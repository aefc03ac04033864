package org.apache.spark.sql.streamjoin.physical.eventtime

import java.util.Optional
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset}
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String
import org.json4s._
import org.json4s.jackson.JsonMethods.parse

import io.streamjoin.model.TopicPartitioner

/**
 * Topics in memory, to Spark what its connector to Kafka is: offsets as text of the same form, partitions of a batch
 * in any order, those with rows alone, and each in as many parts as the option `parts` says.
 */
class MemoryKafka extends TableProvider with DataSourceRegister {

  override def shortName(): String = "kafka"

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = MemoryKafka.schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: java.util.Map[String, String]
  ): Table = new Table with SupportsRead {
    override def name(): String = "topics"
    override def schema(): StructType = MemoryKafka.schema
    override def capabilities(): java.util.Set[TableCapability] =
      Set(TableCapability.MICRO_BATCH_READ).asJava
    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
      new Scan {
        override def readSchema(): StructType = MemoryKafka.schema
        override def toMicroBatchStream(checkpoint: String): MicroBatchStream =
          new MemoryKafka.Topics(
            options.get("subscribe").split(",").toSeq,
            options.getInt("parts", 1)
          )
      }
  }
}

object MemoryKafka {

  val schema: StructType = StructType.fromDDL("key BINARY, value STRING, partition INT")

  private val topics = new ConcurrentHashMap[String, Topic]

  /** A new topic of this name. */
  def create(name: String, partitions: Int): Topic = {
    val topic = new Topic(partitions)
    topics.put(name, topic)
    topic
  }

  final class Topic(partitions: Int) {
    private val rows = ArrayBuffer.fill(partitions)(ArrayBuffer.empty[(Array[Byte], String)])

    /** Where Kafka's own partitioner puts it; one without a key anywhere. */
    def add(key: Array[Byte], value: String): Unit = synchronized {
      val partition =
        if (key == null) Random.nextInt(rows.length)
        else TopicPartitioner.partitionOf(key, rows.length)
      addTo(partition, key, value)
    }

    def addTo(partition: Int, key: Array[Byte], value: String): Unit = synchronized {
      rows(partition) += key -> value
    }

    def grow(): Unit = synchronized { rows += ArrayBuffer.empty }

    def ends: Seq[Long] = synchronized(rows.map(_.length.toLong).toSeq)

    def read(partition: Int, from: Long, until: Long): Seq[(Array[Byte], String)] =
      synchronized(rows(partition).slice(from.toInt, until.toInt).toSeq)
  }

  private final case class Offsets(override val json: String) extends Offset

  /** As the connector's of that name, of which two methods are asked for. */
  final case class Range(topic: String, partition: Int, fromOffset: Long, untilOffset: Long)

  final case class Part(offsetRange: Range) extends InputPartition

  private final class Topics(names: Seq[String], parts: Int) extends MicroBatchStream {

    private def offsets(of: Topic => Seq[Long]): Offset = Offsets(names.map { name =>
      val ends = of(topics.get(name)).zipWithIndex.map { case (end, p) => s""""$p":$end""" }
      s""""$name":${ends.mkString("{", ",", "}")}"""
    }.mkString("{", ",", "}"))

    override def initialOffset(): Offset = offsets(_.ends.map(_ => 0L))

    override def latestOffset(): Offset = offsets(_.ends)

    override def deserializeOffset(json: String): Offset = Offsets(json)

    override def commit(end: Offset): Unit = ()

    override def stop(): Unit = ()

    private def read(offset: Offset): Map[(String, Int), Long] = (for {
      case (topic, JObject(ends)) <- parse(offset.json).asInstanceOf[JObject].obj
      case (partition, JInt(end)) <- ends
    } yield (topic, partition.toInt) -> end.toLong).toMap

    override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
      val begun = read(start)
      val found = for {
        ((topic, partition), until) <- read(end).toSeq
        from = begun.getOrElse((topic, partition), 0L)
        width = math.max(1L, (until - from + parts - 1) / parts)
        at <- from until until by width
      } yield Part(Range(topic, partition, at, math.min(at + width, until)))
      Random.shuffle(found).toArray
    }

    override def createReaderFactory(): PartitionReaderFactory = Reading
  }

  private object Reading extends PartitionReaderFactory {
    override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
      val range = partition.asInstanceOf[Part].offsetRange
      val rows = topics
        .get(range.topic)
        .read(range.partition, range.fromOffset, range.untilOffset)
        .iterator
      new PartitionReader[InternalRow] {
        private var row: InternalRow = _
        override def next(): Boolean = rows.hasNext && {
          val (key, value) = rows.next()
          row = InternalRow(key, UTF8String.fromString(value), range.partition)
          true
        }
        override def get(): InternalRow = row
        override def close(): Unit = ()
      }
    }

    private def readResolve(): Any = Reading
  }

  /** Bytes of a text. */
  def text(key: String): Array[Byte] =
    Optional.ofNullable(key).map[Array[Byte]](_.getBytes("UTF-8")).orElse(null)
}
