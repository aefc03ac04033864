package org.apache.spark.sql.streamjoin.physical.eventtime

import scala.util.Try

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.json4s._
import org.json4s.jackson.JsonMethods.parse

/**
 * Where the rows of an input lie: what Spark's connector to Kafka says of a batch.
 *
 * That connector is not on the class path of this project, which need not be compiled for each version of it: the
 * offsets are read as the text that they have in every checkpoint, and a partition's place by the names of two
 * methods.
 */
private[eventtime] object TopicPartitions {

  /** A part of a partition of a topic, of which one batch may have several. */
  final case class Place(partition: Int, offset: Long)

  /**
   * The topics of a source.
   *
   * @param partitions how many each has
   */
  final case class Topics(partitions: Map[String, Int]) {

    def names: String = partitions.keys.toSeq.sorted.mkString(", ")
  }

  /** The scan of a topic below, through operators that leave rows where they are; none where the batch has no data. */
  def scan(input: SparkPlan): Option[MicroBatchScanExec] = input match {
    case s: MicroBatchScanExec => Some(s)
    case moved: Exchange =>
      throw new IllegalStateException(s"rows are moved below a join of topics: ${moved.nodeName}")
    case passes: UnaryExecNode => scan(passes.child)
    case _                     => None
  }

  /** The join of topics below, if the input is its result. */
  def joinBelow(input: SparkPlan): Option[JoinInPlace] = input match {
    case j: JoinInPlace        => Some(j).filter(_.staysInPlace)
    case _: Exchange           => None
    case passes: UnaryExecNode => joinBelow(passes.child)
    case _                     => None
  }

  /** All scans of topics below, of joins in between too. */
  def scans(input: SparkPlan): Seq[MicroBatchScanExec] =
    joinBelow(input).fold(scan(input).toSeq)(_.children.flatMap(scans))

  /** The topics up to the end of a batch: as the offsets have it, those without a row in it too. */
  def topics(end: Offset): Topics = Topics(
    Try(parse(end.json)).toOption.collect { case JObject(topics) => topics }.toSeq.flatten.map {
      case (topic, JObject(partitions)) => topic -> count(topic, partitions.map(_._1))
      case (topic, _)                   => throw unknown(s"no partitions of $topic in $end")
    }.toMap
  )

  /** By partition of the scan. */
  def places(scan: MicroBatchScanExec): IndexedSeq[Place] =
    scan.inputPartitions.map(place).toIndexedSeq

  private def count(topic: String, found: Seq[String]): Int = {
    val numbers = found.flatMap(_.toIntOption).sorted
    if (numbers != found.indices) throw unknown(s"partitions ${numbers.mkString(", ")} of $topic")
    numbers.length
  }

  private[eventtime] def place(partition: InputPartition): Place = Try {
    val range = partition.getClass.getMethod("offsetRange").invoke(partition)
    def number(name: String) = range.getClass.getMethod(name).invoke(range).asInstanceOf[Number]
    Place(number("partition").intValue, number("fromOffset").longValue)
  }.getOrElse(throw unknown(s"a partition of ${partition.getClass.getName}"))

  private def unknown(what: String) = new IllegalStateException(
    s"a join with co_partitioned = true reads whole topics by Spark's connector to Kafka, and not $what"
  )
}
