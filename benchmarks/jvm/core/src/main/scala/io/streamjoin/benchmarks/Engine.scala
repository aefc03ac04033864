package io.streamjoin.benchmarks

import scala.io.Source

/** Something that runs a workload from its first row to its last result. */
trait Engine {
  def run(workload: Workload): Outcome

  /** Frees the resources of the runs. */
  def close(): Unit = ()
}

/** An engine that does not run a workload's query as it is written. */
final class Refused(message: String) extends Exception(message)

object Engine {

  /**
   * Every engine's process: it runs its workload once for each line of its input, and answers with a
   * line of JSON. So runs of several engines can take turns.
   *
   * The command line has `engine=` and the parameters of the workload. A line has, between tabs, the
   * parameters that are other in its run, and `profile=`, a file for collapsed stacks, where one is
   * wanted.
   */
  def main(arguments: Seq[String])(create: String => Engine): Unit = {
    // whatever an engine prints is no answer
    val answers = System.out
    System.setOut(System.err)
    val parameters = Parameters.parse(arguments)
    val name = parameters.text("engine")
    val engine = create(name)
    try
      Source.fromInputStream(System.in).getLines().foreach { line =>
        val changes = Parameters.parse(line.split('\t').toSeq.filter(_.nonEmpty))
        answers.println(answer(engine, name, parameters.but(changes.values.toSeq: _*)))
        answers.flush()
      }
    finally engine.close()
  }

  private def answer(engine: Engine, name: String, parameters: Parameters): String = {
    val (control, own) = parameters.values.partition(p => Control(p._1))
    val workload = Workloads.of(control("workload"), new Parameters(own))
    System.gc()
    val profiling = control.get("profile").map(Profile.start)
    try engine.run(workload).json(name, workload)
    catch { case refused: Refused => refusal(name, workload, refused) }
    finally profiling.foreach(_.stop())
  }

  private val Control = Set("engine", "workload", "profile")

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
