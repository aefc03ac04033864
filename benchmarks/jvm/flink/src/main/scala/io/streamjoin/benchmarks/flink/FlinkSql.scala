package io.streamjoin.benchmarks.flink

import java.time.Duration

import org.apache.flink.configuration.{CheckpointingOptions, Configuration}
import org.apache.flink.table.api.{EnvironmentSettings, TableEnvironment}
import org.apache.flink.types.Row

/**
 * Runs statements of SQL on a cluster inside the process, and prints the rows of the last one, with
 * tabs between their columns. A Kafka source commits its offsets with each checkpoint.
 *
 * A system property `flink.<name>` is a setting of Flink.
 */
object FlinkSql {
  private val CheckpointInterval = Duration.ofMillis(200)
  private val Prefix = "flink."

  def main(statements: Array[String]): Unit = {
    val settings = new Configuration
    settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, CheckpointInterval)
    for ((name, value) <- sys.props if name.startsWith(Prefix))
      settings.setString(name.stripPrefix(Prefix), value)
    val tables = TableEnvironment.create(
      EnvironmentSettings.newInstance.inStreamingMode.withConfiguration(settings).build
    )
    statements.init.foreach(tables.executeSql)
    tables.executeSql(statements.last).collect.forEachRemaining(row => println(line(row)))
  }

  private def line(row: Row): String =
    Seq.tabulate(row.getArity)(row.getField).mkString("\t")
}
