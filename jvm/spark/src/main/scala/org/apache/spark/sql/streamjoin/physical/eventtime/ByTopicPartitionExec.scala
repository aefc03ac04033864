package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.rdd.{PartitionCoalescer, PartitionGroup, RDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  SortOrder,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.errors.CoPartitioningErrors
import org.apache.spark.sql.streamjoin.physical.stateful.OwnArrivals
import org.apache.spark.sql.types.DataType

import io.streamjoin.model.Side

/**
 * The rows of an input by the partitions of its topic, in each of which all of its partition are read, and nothing
 * else. No row is moved: a row whose key does not lie where it was read fails the query.
 *
 * {{{
 *   scan     topic-2 [0, 40)   topic-0 [7, 9)   topic-2 [40, 80)     in any order, those with rows alone
 *   here     0: topic-0 [7, 9)     1: -     2: topic-2 [0, 40), [40, 80)
 * }}}
 *
 * @param key by which the rows lie; none: no two rows can match, wherever they are
 */
case class ByTopicPartitionExec(
    side: Side,
    key: Option[Expression],
    partitions: Int,
    child: SparkPlan
) extends UnaryExecNode {
  import ByTopicPartitionExec._

  override def nodeName: String = "ByTopicPartition"

  override def simpleString(maxFields: Int): String = nodeName

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = UnknownPartitioning(partitions)

  override def outputOrdering: Seq[SortOrder] = Nil

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = inPlace
    key.fold(rows) { k =>
      val (of, topics, count, columns) = (side.name, from, partitions, child.output)
      rows.mapPartitionsWithIndexInternal { (partition, some) =>
        val place = new PlaceOfKey(k, columns)
        some.map { row =>
          place.misplaced(row, partition, count).foreach { expected =>
            throw CoPartitioningErrors.misplacedRow(
              of,
              topics,
              partition,
              count,
              place.shown(row),
              k.dataType.sql,
              place.length(row),
              expected
            )
          }
          row
        }
      }
    }
  }

  private def inPlace: RDD[InternalRow] =
    if (TopicPartitions.joinBelow(child).nonEmpty) child.execute()
    else {
      val places = TopicPartitions.scan(child).map(TopicPartitions.places)
      val together = new Together(places, partitions)
      OwnArrivals.apart(
        child,
        child.execute().coalesce(partitions, shuffle = false, Some(together))
      )
    }

  private def from: String =
    TopicPartitions.joinBelow(child).map(_ => "the join below").orElse(
      TopicPartitions.scan(child).map(s => TopicPartitions.topics(s.end).names)
    ).getOrElse("")

  override protected def withNewChildInternal(newChild: SparkPlan): ByTopicPartitionExec =
    copy(child = newChild)
}

private[eventtime] object ByTopicPartitionExec {

  /** Where a row should lie, by its key; in a task. */
  private final class PlaceOfKey(key: Expression, columns: Seq[Attribute]) {

    private val column = columns.indexWhere(_.semanticEquals(key))
    private val read: InternalRow => InternalRow =
      if (column < 0) UnsafeProjection.create(Seq(key), columns) else identity
    private val dataType: DataType = key.dataType
    private val place = new PartitionOfKey(dataType, math.max(column, 0))

    /** The partition in which it belongs, if that is another. A row without a key meets none, and lies anywhere. */
    def misplaced(row: InternalRow, partition: Int, partitions: Int): Option[Int] = {
      val own = read(row)
      if (own.isNullAt(math.max(column, 0))) None
      else {
        val expected = place(own, partitions)
        if (expected == partition) None else Some(expected)
      }
    }

    def shown(row: InternalRow): String = place.shown(read(row))

    def length(row: InternalRow): Int = place.length(read(row))
  }

  /**
   * Brings together what is read of one partition of a topic, in the order in which it was written.
   *
   * @param places by partition of what is read; none: there are no rows
   */
  private[eventtime] final class Together(
      places: Option[IndexedSeq[TopicPartitions.Place]],
      partitions: Int
  ) extends PartitionCoalescer
      with Serializable {

    override def coalesce(atMost: Int, parent: RDD[_]): Array[PartitionGroup] = {
      val groups = Array.fill(partitions)(new PartitionGroup)
      val read = parent.partitions
      places match {
        case None => if (partitions > 0) groups(0).partitions ++= read
        case Some(known) =>
          if (known.length != read.length) {
            throw new IllegalStateException(
              s"${read.length} partitions are computed of ${known.length} that are read"
            )
          }
          known.zip(read).sortBy { case (place, p) => (place.offset, p.index) }.foreach {
            case (place, p) => groups(place.partition).partitions += p
          }
      }
      groups
    }
  }
}
