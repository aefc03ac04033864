package io.streamjoin.benchmarks.flink

import java.time.{Duration, ZoneOffset}

import scala.jdk.CollectionConverters._

import org.apache.flink.api.common.JobID
import org.apache.flink.configuration._
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot
import org.apache.flink.runtime.minicluster.{MiniCluster, MiniClusterConfiguration}
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.table.api.Schema
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment
import org.apache.flink.table.api.config.ExecutionConfigOptions
import org.apache.flink.table.connector.ChangelogMode
import org.apache.flink.table.data.RowData

import io.streamjoin.benchmarks._

/**
 * The query in Flink SQL on a cluster inside the process, with a task slot for each core.
 *
 * @param state `hashmap` or `rocksdb`
 * @param miniBatch whether rows wait for others of their key, two seconds or 50,000 rows at most, as its
 *   documentation advises for regular joins
 */
final class FlinkEngine(state: String, miniBatch: Boolean = false) extends Engine {
  private val cores = Runtime.getRuntime.availableProcessors
  private val folder = new TemporaryFolder
  private val settings = configuration

  private val cluster = new MiniCluster(
    new MiniClusterConfiguration.Builder()
      .setNumTaskManagers(1)
      .setNumSlotsPerTaskManager(cores)
      .setConfiguration(settings)
      .build()
  )
  cluster.start()

  override def close(): Unit = {
    cluster.close()
    folder.delete()
  }

  override def run(workload: Workload): Outcome = {
    val environment = StreamExecutionEnvironment.getExecutionEnvironment(settings)
    val received = Received.open(workload)
    val watch = new Stopwatch
    plan(environment, workload, received)
    val job = cluster.submitJob(environment.getStreamGraph.getJobGraph).get.getJobID
    cluster.requestJobResult(job).get.toJobExecutionResult(getClass.getClassLoader)
    val (wall, cpu) = (watch.wallSeconds, watch.cpuSeconds)
    val checkpoints = statistics(job)
    Outcome(
      received.result,
      wall,
      cpu,
      peakBufferedBytes = checkpoints.map(_.getSummaryStats.getStateSizeStats.getMaximum),
      bytesCheckpointed = checkpoints.map(_.getSummaryStats.getCheckpointedSize.getSum),
      details = Seq("checkpoints" -> checkpoints.map(_.getCounts.getNumberOfCompletedCheckpoints))
    )
  }

  private def plan(
      environment: StreamExecutionEnvironment,
      workload: Workload,
      received: Received
  ): Unit = {
    val tables = StreamTableEnvironment.create(environment)
    val c = tables.getConfig
    c.setLocalTimeZone(ZoneOffset.UTC)
    // there is no ON CONFLICT where the sink is not a table of SQL: it is as if DO DEDUPLICATE were written
    c.set(ExecutionConfigOptions.TABLE_EXEC_SINK_REQUIRE_ON_CONFLICT, java.lang.Boolean.FALSE)
    if (miniBatch) {
      c.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED, java.lang.Boolean.TRUE)
      c.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ALLOW_LATENCY, Duration.ofSeconds(2))
      c.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_SIZE, java.lang.Long.valueOf(50000L))
    }
    val steps = Arrivals.steps(environment, workload, cores)
    workload.streams.foreach(stream => Arrivals.declare(tables, steps, stream))
    val result = tables.sqlQuery(workload.query(Dialect.Flink))
    if (workload.isCorrected) {
      val names = result.getResolvedSchema.getColumnNames
      val changes =
        if (workload.tableKeys.isEmpty || !workload.isChangelog) tables.toChangelogStream(result)
        else {
          // the sink has its columns and a key, as a table to which a query writes
          val schema = Schema.newBuilder().fromResolvedSchema(result.getResolvedSchema)
          tables.toChangelogStream(
            result,
            schema.primaryKey(names.get(0)).build(),
            ChangelogMode.upsert()
          )
        }
      changes.sinkTo(new ChangeSink(names.size, received.key))
    } else {
      val row = result.getResolvedSchema.toPhysicalRowDataType
      val kinds = row.getLogicalType.getChildren.asScala.map(_.getTypeRoot.name match {
        case "VARCHAR" => Kind.Text
        case "BIGINT"  => Kind.Number
        case _         => Kind.Time
      })
      tables
        .toDataStream[RowData](result, row.notNull.bridgedTo(classOf[RowData]))
        .sinkTo(new RowSink(kinds.toArray[Kind], received.key))
    }
    ()
  }

  private def statistics(job: JobID): Option[CheckpointStatsSnapshot] =
    Option(cluster.getExecutionGraph(job).get.getCheckpointStatsSnapshot)
      .filter(_.getCounts.getNumberOfCompletedCheckpoints > 0)

  private def configuration: Configuration = {
    val c = new Configuration
    c.set(StateBackendOptions.STATE_BACKEND, state)
    c.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, java.lang.Boolean.TRUE)
    c.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, FlinkEngine.CheckpointInterval)
    c.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem")
    c.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.path.toUri.toString)
    c.set(CoreOptions.DEFAULT_PARALLELISM, Integer.valueOf(cores))
    // what a batch of Spark does: the same objects go from operator to operator
    c.set(PipelineOptions.OBJECT_REUSE, java.lang.Boolean.TRUE)
    c.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(512))
    c.set(RestOptions.BIND_PORT, "0")
    c
  }
}

object FlinkEngine {

  /** About what a batch of Spark takes. */
  private val CheckpointInterval = Duration.ofSeconds(2)

  def main(arguments: Array[String]): Unit =
    Engine.main(arguments.toSeq) {
      case "flink-heap"               => new FlinkEngine("hashmap")
      case "flink-rocksdb"            => new FlinkEngine("rocksdb")
      case "flink-heap-mini-batch"    => new FlinkEngine("hashmap", miniBatch = true)
      case "flink-rocksdb-mini-batch" => new FlinkEngine("rocksdb", miniBatch = true)
      case other                      => throw new IllegalArgumentException(s"no engine $other")
    }
}
