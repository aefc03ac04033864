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
   * The command line of every engine's process: `engine=`, `workload=`, `out=` (the file for a JSON line
   * of each measured run), and where they are wanted
   *
   *   - `runs=`: how many measured runs, 1
   *   - `warmup=`: rows of a run before them, 0 for none
   *   - `warmup-batches=`: how many batches these are
   *   - `profile=`: a file for collapsed stacks of the last run
   *
   * All others are parameters of the workload.
   */
  def main(arguments: Seq[String])(create: String => Engine): Unit = {
    val (control, parameters) = Parameters.parse(arguments).values.partition(a => own(a._1))
    val name = control("engine")
    val workload = Workloads.of(control("workload"), new Parameters(parameters))
    val lines =
      try {
        val engine = create(name)
        try {
          warmupOf(workload, control).foreach(engine.run)
          val runs = control.get("runs").fold(1)(_.toInt)
          for (run <- 1 to runs) yield {
            val profile = control.get("profile").filter(_ => run == runs)
            measured(engine, workload, profile).json(name, workload)
          }
        } finally engine.close()
      } catch { case refused: Refused => Seq(refusal(name, workload, refused)) }
    Files.writeString(Paths.get(control("out")), lines.map(_ + "\n").mkString)
  }

  private val own = Set("engine", "workload", "out", "runs", "warmup", "warmup-batches", "profile")

  /** The same on fewer rows in smaller batches: what runs once a batch is compiled after many. */
  private def warmupOf(workload: Workload, control: Map[String, String]): Option[Workload] =
    control.get("warmup").map(_.toLong).filter(_ > 0).map { rows =>
      val batch = control.get("warmup-batches").map(n => "batch" -> math.max(1, rows / n.toLong))
      val changes = Seq("rows" -> rows) ++ batch
      Workloads.of(workload.name, workload.parameters.but(changes: _*))
    }

  private def measured(engine: Engine, workload: Workload, profile: Option[String]): Outcome = {
    System.gc()
    val profiling = profile.map(Profile.start)
    val outcome = engine.run(workload)
    profiling.foreach(_.stop())
    outcome
  }

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
