package io.streamjoin.benchmarks.spark

import org.apache.spark.sql.{DataFrame, SparkSession}

import io.streamjoin.benchmarks.{Arrival, Dialect, RowStream, Workload}

/**
 * Whose join a query gets, and on which state.
 *
 * @param imposesOrder whether the join is to be this project's: inputs with an event time get keyed watermarks
 * @param countsRows whether the state says how many rows it holds
 * @param plain whether its session is as a user finds it, which has no more than `streamjoin.configure` sets
 */
final case class Variant(
    imposesOrder: Boolean = false,
    countsRows: Boolean = true,
    plain: Boolean = false,
    settings: Map[String, String] = Map.empty
) {

  def session(name: String): SparkSession = {
    val cores = Runtime.getRuntime.availableProcessors
    val common = Map(
      "spark.master" -> s"local[$cores]",
      "spark.app.name" -> name,
      "spark.driver.host" -> "localhost",
      "spark.log.level" -> "ERROR",
      "spark.ui.enabled" -> "false",
      "spark.sql.extensions" -> "io.streamjoin.StreamJoinExtensions",
      "spark.sql.session.timeZone" -> "UTC",
      "spark.sql.shuffle.partitions" -> cores.toString,
      // the checkpoint is measured at the end of a run
      "spark.sql.streaming.minBatchesToRetain" -> "1000000",
      "spark.sql.streaming.numRecentProgressUpdates" -> "1000000"
    )
    val builder = SparkSession.builder()
    (common ++ around ++ settings).foreach { case (key, value) => builder.config(key, value) }
    builder.getOrCreate()
  }

  private def around: Map[String, String] = {
    val files = "spark.sql.streaming.checkpointFileManagerClass"
    if (!plain) {
      Map(
        // else every query has a class loader of its own, and its generated code is compiled anew
        "spark.sql.artifact.isolation.enabled" -> "false",
        // Hadoop's own starts several processes for each file of a checkpoint on the local disk
        "spark.hadoop.fs.file.impl" -> "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
        s"spark.hadoop.$files" ->
          "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
      )
    } else if (imposesOrder) {
      Map(files -> "org.apache.spark.sql.streamjoin.checkpoint.LocalCheckpointFiles")
    } else Map.empty
  }

  def dialect: Dialect = if (imposesOrder) Dialect.StreamJoin else Dialect.Spark

  /** An input with what has to be said of it. */
  def declared(rows: DataFrame, stream: RowStream, workload: Workload): DataFrame = {
    def through(function: String): DataFrame = {
      rows.createOrReplaceTempView("arriving")
      rows.sparkSession.sql(s"SELECT * FROM $function")
    }
    val asked = workload.parameters.values
    stream.arrival match {
      case Arrival.Ordered(time, lag) if imposesOrder && !workload.aggregates =>
        // so many parts of the items, each with a watermark of its own, or none of them; either way
        // the query computes a column of each row, as it does from the messages of a topic
        val arriving = asked.get("groups").fold("TABLE(arriving)")(n =>
          s"TABLE(SELECT * EXCEPT (item), abs(item) AS item, item % $n AS part FROM arriving)"
        )
        val per = if (asked.get("per").contains("yes")) ", per => DESCRIPTOR(part)" else ""
        through(
          s"IMPOSE_ORDER($arriving, DESCRIPTOR($time), INTERVAL '$lag' MILLISECOND$per)"
        )
      case Arrival.Ordered(time, lag) => rows.withWatermark(time, s"$lag milliseconds")
      case Arrival.Appended           => rows
      case Arrival.Versioned(unique, time, lag) =>
        val changes =
          s"FROM_CHANGELOG(TABLE(arriving), key => DESCRIPTOR($unique), sequence_by => DESCRIPTOR(seq))"
        through(
          s"IMPOSE_ORDER(TABLE(SELECT * FROM $changes), DESCRIPTOR($time), INTERVAL '$lag' MILLISECOND)"
        )
      case Arrival.Changing(None) => through("FROM_CHANGELOG(TABLE(arriving))")
      case Arrival.Changing(Some(unique)) =>
        through(
          s"FROM_CHANGELOG(TABLE(arriving), key => DESCRIPTOR($unique), sequence_by => DESCRIPTOR(seq))"
        )
    }
  }
}

object Variant {
  private val Streaming = "spark.sql.streaming"
  private val State = s"$Streaming.stateStore"

  private val rocksDb = Map(
    s"$State.providerClass" ->
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    s"$State.rocksdb.changelogCheckpointing.enabled" -> "true"
  )

  private val untracked = Map(s"$State.rocksdb.trackTotalNumberOfRows" -> "false")

  private val rocksDbFormat = "spark-rocksdb-([234])(-untracked)?".r

  private val plainly = "(.*)-plain".r

  def of(engine: String): Variant = engine match {
    case plainly(other) => of(other).copy(plain = true)
    case "streamjoin"   => Variant(imposesOrder = true)
    case "streamjoin-rocksdb" =>
      Variant(imposesOrder = true, settings = Map("spark.sql.streamJoin.stateFormat" -> "rocksdb"))
    case "spark-heap" | "spark-batch" => Variant()
    case rocksDbFormat(format, tuned) =>
      Variant(
        countsRows = tuned == null,
        settings = rocksDb ++ Option(tuned).fold(Map.empty[String, String])(_ => untracked) ++ Map(
          s"$Streaming.join.stateFormatVersion" -> format,
          s"$Streaming.join.stateFormatV4.enabled" -> (format == "4").toString
        )
      )
    case other => throw new IllegalArgumentException(s"no engine $other")
  }
}
