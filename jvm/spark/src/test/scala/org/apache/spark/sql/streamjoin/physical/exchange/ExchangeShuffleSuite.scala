package org.apache.spark.sql.streamjoin.physical.exchange

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.MapStatus
import org.apache.spark.shuffle.MetadataFetchFailedException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{LongType, StringType}
import org.apache.spark.storage.ShuffleDataBlockId
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.{
  MapOutputTrackerMaster,
  MapOutputTrackerWorker,
  SparkConf,
  SparkContext,
  SparkEnv,
  TaskContext
}

/**
 * The rows of a shuffle of two inputs, with and without files, also after failures of map tasks.
 */
class ExchangeShuffleSuite extends AnyFunSuite with BeforeAndAfterAll {
  import ExchangeShuffleSuite._

  private lazy val context = new SparkContext(
    new SparkConf().setMaster("local[2]").setAppName("shuffles").set("spark.ui.enabled", "false")
  )

  override protected def afterAll(): Unit =
    try context.stop()
    finally super.afterAll()

  /** @param rows the range of numbers of each partition */
  private def input(
      rows: Seq[Range],
      places: Seq[Seq[String]] = Nil,
      wide: Boolean = false
  ): ExchangeInput = {
    val id = AttributeReference("id", LongType)()
    val columns = if (wide) Seq(AttributeReference("text", StringType)(), id) else Seq(id)
    val numbers =
      if (places.isEmpty) context.parallelize(rows, math.max(1, rows.length))
      else context.makeRDD(rows.zip(places))
    val made = numbers.mapPartitions { ranges =>
      val unsafe = UnsafeProjection.create(columns.map(_.dataType).toArray)
      ranges.flatten.map { n =>
        val text = Option.when(wide)(UTF8String.fromString(s"row $n"))
        val values: Seq[Any] = text.toSeq :+ n.toLong
        unsafe(InternalRow.fromSeq(values)): InternalRow
      }
    }
    val place = ByKey(HashPartitioning(Seq(id), Partitions))
    ExchangeInput(
      made.mapPartitions(place.numbered(_, columns)),
      Partitions,
      columns.length,
      SQLMetrics.createMetric(context, "bytes"),
      SQLMetrics.createMetric(context, "rows")
    )
  }

  /** @param areShared whether tasks use the rows in the driver's heap, instead of carrying them */
  private def shuffle(
      left: Seq[Range],
      right: Seq[Range],
      most: Option[Long] = Some(1L << 16),
      areShared: Boolean = false
  ): ExchangeShuffle =
    ExchangeShuffle.of(context, Seq(input(left), input(right, wide = true)), most, areShared)

  /** The ids of both inputs, by output partition. */
  private def read(
      shuffle: ExchangeShuffle,
      before: TaskContext => Unit = _ => ()
  ): Seq[(Seq[Long], Seq[Long])] = {
    val effect: RDD[Int] = context.parallelize(0 until Partitions, Partitions).mapPartitions { i =>
      before(TaskContext.get())
      i
    }
    effect
      .zipPartitions(shuffle.rows(0), shuffle.rows(1)) { (_, left, right) =>
        val ids = left.map(_.getLong(0)).toList
        Iterator(ids -> right.map { r =>
          assert(r.getUTF8String(0).toString == s"row ${r.getLong(1)}")
          r.getLong(1)
        }.toList)
      }
      .collect()
      .toSeq
  }

  private def check(out: Seq[(Seq[Long], Seq[Long])], left: Seq[Range], right: Seq[Range]): Unit = {
    assert(out.flatMap(_._1).sorted == left.flatten.map(_.toLong).sorted)
    assert(out.flatMap(_._2).sorted == right.flatten.map(_.toLong).sorted)
    // rows of one key are in one partition
    for ((l, p) <- out.map(_._1).zipWithIndex; (r, q) <- out.map(_._2).zipWithIndex if p != q)
      assert(l.intersect(r).isEmpty)
  }

  private def filesOf(shuffle: ExchangeShuffle): Int =
    SparkEnv.get.blockManager.diskBlockManager.getAllBlocks().count {
      case ShuffleDataBlockId(id, _, _) => id == shuffle.shuffle.shuffleId
      case _                            => false
    }

  private val few = Seq(0 until 50, 50 until 60)
  private val many = Seq(0 until 20000, 5 until 6)

  for (areShared <- Seq(false, true))
    test(s"a shuffle of few rows writes no file, with rows in the driver's heap: $areShared") {
      val some = shuffle(few, Seq(20 until 40, 3 until 4), areShared = areShared)
      val bytes = some.run()
      check(read(some), few, Seq(20 until 40, 3 until 4))
      assert(some.isWritten && filesOf(some) == 0)
      assert(bytes.length == 2 * Partitions && bytes.sum == 60 * 24 + 21 * 40)
    }

  test("in local mode many rows may stay in the driver's heap, and few in a cluster") {
    val most = InlineOutputs.most(context, new SQLConf)
    assert(most.contains(math.max(900L << 10, Runtime.getRuntime.maxMemory / 32)))
    val all = shuffle(many, many, most, areShared = true)
    check(read(all), many, many)
    assert(filesOf(all) == 0)
  }

  test("only map tasks with many rows write files") {
    val some = shuffle(many, Seq(7 until 9, 0 until 100))
    check(read(some), many, Seq(7 until 9, 0 until 100))
    assert(filesOf(some) == 1)
    val none = shuffle(many, Seq(0 until 10, 0 until 10), most = None)
    check(read(none), many, Seq(0 until 10, 0 until 10))
    assert(filesOf(none) == 2)
  }

  test("inputs without rows and without partitions give no rows") {
    val none = shuffle(Seq(0 until 0, 0 until 0), few)
    check(read(none), Nil, few)
    val empty = ExchangeInput(
      context.emptyRDD[NumberedRow],
      Partitions,
      1,
      SQLMetrics.createMetric(context, "bytes"),
      SQLMetrics.createMetric(context, "rows")
    )
    val shuffles = ExchangeShuffle.of(context, Seq(empty, empty), Some(1L << 16), areShared = true)
    assert(shuffles.rows(0).zipPartitions(shuffles.rows(1))(_ ++ _).collect().isEmpty)
  }

  test("rows larger than the inline limit are written to files") {
    val some = shuffle(few, few, most = Some(1L))
    check(read(some), few, few)
    assert(filesOf(some) == 2)
  }

  test("a map task reads a partition of each input if cores stay busy and locations agree") {
    def tasks(inputs: ExchangeInput*) =
      ExchangeShuffle.of(context, inputs, None, areShared = true).shuffle.rdd.getNumPartitions
    assert(tasks(input(few), input(few)) == 2)
    assert(tasks(input(few), input(few :+ (0 until 1))) == 3)
    assert(tasks(input(few.take(1)), input(few.take(1))) == 2)
    assert(tasks(input(few, places = Seq(Seq("a"), Seq("b"))), input(few)) == 4)
  }

  test("the metrics of an input count its rows and bytes") {
    val inputs = Seq(input(few), input(Seq(0 until 3), wide = true))
    val some = ExchangeShuffle.of(context, inputs, Some(1L << 16), areShared = true)
    read(some)
    val (left, right) = (inputs.head, inputs.last)
    assert(left.count.value == 60 && right.count.value == 3)
    assert(left.bytes.value == 60 * 16 && right.bytes.value == 3 * 32)
  }

  for (
    (size, rows, areShared) <-
      Seq(("few", few, false), ("few shared", few, true), ("many", many, false))
  ) {
    test(s"map outputs of $size rows that are lost while a task runs are recomputed") {
      val some = shuffle(rows, few, areShared = areShared)
      val id = some.shuffle.shuffleId
      val attempts = Attempts()
      val out = read(
        some,
        task =>
          if (attempts.note(task) == 0) tracker.unregisterAllMapAndMergeOutput(id)
      )
      check(out, rows, few)
      assert(attempts.most == 1)
    }

    test(
      s"a task with $size rows of an outdated map attempt is serialized again"
    ) {
      val some = shuffle(rows, few, areShared = areShared)
      val (id, partitions) = (some.shuffle.shuffleId, some.shuffle.partitioner.numPartitions)
      val attempts = Attempts()
      val out = read(
        some,
        task =>
          attempts.note(task) match {
            case 0 => register(id, PackingWriter.sizes(partitions))
            case 1 => tracker.unregisterAllMapAndMergeOutput(id)
            case _ => ()
          }
      )
      check(out, rows, few)
      assert(attempts.most == 2)
    }
  }

  test("an executor with outdated map outputs fails once, then gets the current ones") {
    val some = shuffle(few, few)
    check(read(some), few, few)
    val (id, partitions) = (some.shuffle.shuffleId, some.shuffle.partitioner.numPartitions)
    val ofExecutor = new MapOutputTrackerWorker(context.getConf)
    ofExecutor.trackerEndpoint = tracker.trackerEndpoint
    val serializer = SparkEnv.get.closureSerializer.newInstance()
    def readThere(): Unit = {
      val part =
        serializer.deserialize[ExchangedPart](serializer.serialize(some.rows(0).partitions.head))
      ExchangedRows.check(ofExecutor, id, partitions - 1, part.inline.get.mapIds)
    }
    readThere()
    // a late attempt, with files
    register(id, new Array[Long](partitions))
    intercept[MetadataFetchFailedException](readThere())
    readThere()
  }
}

private object ExchangeShuffleSuite {
  private val Partitions = 3

  private def tracker = SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster]

  /** Registers an output as if the first map task had run again. */
  private def register(shuffle: Int, sizes: Array[Long]): Unit =
    tracker.registerMapOutput(
      shuffle,
      0,
      MapStatus(SparkEnv.get.blockManager.shuffleServerId, sizes, mapTaskId = -1L)
    )

  /** The attempts of a stage, recorded by its tasks. Driver and executor are one process here. */
  private final class Attempts(key: Int) extends Serializable {

    def note(task: TaskContext): Int = {
      Attempts.most.merge(key, task.stageAttemptNumber(), (a, b) => math.max(a, b))
      task.stageAttemptNumber()
    }

    def most: Int = Attempts.most.get(key)
  }

  private object Attempts {
    private val most = new java.util.concurrent.ConcurrentHashMap[Int, Int]
    private val made = new java.util.concurrent.atomic.AtomicInteger

    def apply(): Attempts = new Attempts(made.incrementAndGet())
  }
}
