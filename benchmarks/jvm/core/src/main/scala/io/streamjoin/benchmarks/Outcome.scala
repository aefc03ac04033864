package io.streamjoin.benchmarks

/**
 * Result of a measured run; `None` if the engine does not report a figure.
 *
 * @param stateRowsWritten rows ever written to the state
 * @param details what only this engine or this workload has
 */
final case class Outcome(
    result: Checksum,
    wallSeconds: Double,
    cpuSeconds: Double,
    batches: Seq[Batch] = Nil,
    peakBufferedRows: Option[Long] = None,
    peakBufferedBytes: Option[Long] = None,
    bytesCheckpointed: Option[Long] = None,
    stateRowsWritten: Option[Long] = None,
    details: Seq[(String, Any)] = Nil
) {

  def json(engine: String, workload: Workload): String = {
    val counted = batches.filter(_.input > 0).drop(workload.loads)
    val (withRows, cpu) = (counted.map(_.ms).sorted, counted.map(_.cpuMs).sorted)
    Json.of(
      Seq(
        "engine" -> engine,
        "workload" -> workload.name,
        "parameters" -> workload.parameters.values.toSeq.sorted,
        "rows" -> workload.rows,
        "result_rows" -> result.rows,
        "checksum" -> result.toString,
        "changes_out" ->
          Option.when(workload.isChangelog || workload.isCorrected)(result.changes),
        "wall_seconds" -> wallSeconds,
        "cpu_seconds" -> cpuSeconds,
        "rows_per_cpu_second" -> workload.rows / cpuSeconds,
        "peak_buffered_rows" -> peakBufferedRows,
        "peak_buffered_bytes" -> peakBufferedBytes,
        "bytes_checkpointed" -> bytesCheckpointed,
        "state_rows_written" -> stateRowsWritten,
        "batches" -> batches.length,
        "median_batch_ms" -> withRows.lift(withRows.length / 2),
        "max_batch_ms" -> withRows.lastOption,
        "median_batch_cpu_ms" ->
          Option.when(workload.isChangelog)(cpu.lift(cpu.length / 2)).flatten,
        "no_data_batches" -> batches.count(_.input == 0),
        "batch_log" -> batches.map(b => Seq[Any](b.input, b.ms, b.bufferedRows, b.bufferedBytes))
      ) ++ details
    )
  }
}
