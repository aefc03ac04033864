package io.streamjoin.benchmarks

/**
 * A batch as it went.
 *
 * @param input rows it read; 0 for one that was run for the watermark alone
 * @param ms from trigger to commit
 * @param bufferedRows at its end; negative where the engine does not say
 * @param cpuMs of the whole process, from commit to commit
 */
final case class Batch(
    input: Long,
    ms: Double,
    bufferedRows: Long,
    bufferedBytes: Long,
    cpuMs: Double
)
