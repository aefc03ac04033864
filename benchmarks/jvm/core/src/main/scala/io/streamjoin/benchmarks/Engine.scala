package io.streamjoin.benchmarks

import java.nio.file.{Files, Paths}

/** Something that runs a workload from its first row to its last result. */
trait Engine {
  def run(workload: Workload): Outcome

  /** Frees what was set up for the runs. */
  def close(): Unit = ()
}

/** An engine that does not run a workload's query as it is written. */
final class Refused(message: String) extends Exception(message)

object Engine {

  /**
   * The command line of every engine's process: `engine=`, `workload=`, `out=` (the file for the JSON
   * line), optional `warmup=` (rows of a run before the measured one, 0 for none) and `profile=` (a
   * file for collapsed stacks); all others are parameters of the workload.
   */
  def main(arguments: Seq[String])(create: String => Engine): Unit = {
    val (control, parameters) = Parameters.parse(arguments).values.partition(a => own(a._1))
    val engine = control("engine")
    val workload = Workloads.of(control("workload"), new Parameters(parameters))
    val warmup = control.get("warmup").fold(0L)(_.toLong)
    val json =
      try measured(create(engine), workload, warmup, control.get("profile")).json(engine, workload)
      catch { case refused: Refused => refusal(engine, workload, refused) }
    Files.writeString(Paths.get(control("out")), json + "\n")
  }

  private val own = Set("engine", "workload", "out", "warmup", "profile")

  private def measured(
      engine: Engine,
      workload: Workload,
      warmup: Long,
      profile: Option[String]
  ): Outcome =
    try {
      if (warmup > 0)
        engine.run(Workloads.of(workload.name, workload.parameters.but("rows" -> warmup)))
      System.gc()
      val profiling = profile.map(Profile.start)
      val outcome = engine.run(workload)
      profiling.foreach(_.stop())
      outcome
    } finally engine.close()

  private def refusal(engine: String, workload: Workload, refused: Refused): String =
    Json.of(
      Seq(
        "engine" -> engine,
        "workload" -> workload.name,
        "parameters" -> workload.parameters.values.toSeq.sorted,
        "refused" -> refused.getMessage
      )
    )
}
