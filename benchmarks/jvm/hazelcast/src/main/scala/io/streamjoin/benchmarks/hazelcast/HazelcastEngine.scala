package io.streamjoin.benchmarks.hazelcast

import scala.jdk.CollectionConverters._

import com.hazelcast.config.Config
import com.hazelcast.core.{Hazelcast, HazelcastInstance}
import com.hazelcast.sql.HazelcastSqlException

import io.streamjoin.benchmarks._

/** The query in Hazelcast SQL on one member inside the process, with a thread for each core. */
final class HazelcastEngine extends Engine {
  private val cores = Runtime.getRuntime.availableProcessors
  private val member: HazelcastInstance = Hazelcast.newHazelcastInstance(configuration)

  override def close(): Unit = member.shutdown()

  override def run(workload: Workload): Outcome = {
    val run = Run.open(workload)
    val watch = new Stopwatch
    workload.streams.foreach(stream => declare(run, stream))
    execute(s"CREATE OR REPLACE VIEW joined AS ${workload.query(Dialect.Hazelcast)}")
    execute(s"CREATE OR REPLACE EXTERNAL MAPPING received (${columnsOf("joined")}) ${typeOf(run)}")
    submit(run)
    member.getJet.getJob(run.key).join()
    Outcome(
      run.result,
      watch.wallSeconds,
      watch.cpuSeconds,
      details = Seq("checkpoints" -> run.snapshots.get)
    )
  }

  /** Rows as they arrive, and under the stream's own name in their order. */
  private def declare(run: Run, stream: RowStream): Unit = {
    val columns = stream.columns.map(column => s"${column.name} ${dataType(column)}").mkString(", ")
    val lag = Workload.interval(stream.lag)
    execute(
      s"""CREATE OR REPLACE EXTERNAL MAPPING arriving_${stream.name}
         |EXTERNAL NAME "${stream.name}" ($columns) ${typeOf(run)}""".stripMargin
    )
    execute(
      s"""CREATE OR REPLACE VIEW "${stream.name}" AS SELECT * FROM TABLE(IMPOSE_ORDER(
         |  TABLE arriving_${stream.name}, DESCRIPTOR(${stream.time}), $lag
         |))""".stripMargin
    )
  }

  private def submit(run: Run): Unit =
    try
      execute(
        s"""CREATE JOB "${run.key}" OPTIONS (
           |  'processingGuarantee' = 'exactlyOnce',
           |  'snapshotIntervalMillis' = '${HazelcastEngine.SnapshotInterval}'
           |) AS SINK INTO received SELECT * FROM joined""".stripMargin
      )
    catch { case e: HazelcastSqlException => throw new Refused(e.getMessage) }

  private def columnsOf(view: String): String = {
    val columns = member.getSql.execute(
      s"""SELECT column_name, data_type FROM information_schema.columns
         |WHERE table_name = '$view' ORDER BY ordinal_position""".stripMargin
    )
    try
      columns.asScala
        .map(c => s""""${c.getObject[String](0)}" ${c.getObject[String](1).replace('_', ' ')}""")
        .mkString(", ")
    finally columns.close()
  }

  private def typeOf(run: Run): String =
    s"TYPE ${RunConnector.Type} OPTIONS ('run' = '${run.key}')"

  private def dataType(column: Column): String = column.kind match {
    case Kind.Number => "BIGINT"
    case Kind.Time   => "TIMESTAMP WITH TIME ZONE"
    case Kind.Text   => "VARCHAR"
    case Kind.Change => throw new Refused("Hazelcast joins no changelogs")
  }

  private def execute(statement: String): Unit = member.getSql.execute(statement).close()

  private def configuration: Config = {
    val config = new Config
    config.setProperty("hazelcast.phone.home.enabled", "false")
    config.setProperty("hazelcast.logging.type", "none")
    config.getJetConfig.setEnabled(true).setCooperativeThreadCount(cores)
    val network = config.getNetworkConfig
    network.getInterfaces.setEnabled(true).addInterface("127.0.0.1")
    network.getJoin.getMulticastConfig.setEnabled(false)
    network.getJoin.getAutoDetectionConfig.setEnabled(false)
    config
  }
}

object HazelcastEngine {

  /** In milliseconds; about what a batch of Spark takes. */
  private val SnapshotInterval = 2000

  def main(arguments: Array[String]): Unit =
    Engine.main(arguments.toSeq)(_ => new HazelcastEngine)
}
