package io.streamjoin.benchmarks

/** CPU samples of all threads by async-profiler, whose jar is on the class path of a profiled run. */
final class Profile private (profiler: AnyRef, file: String) {

  def stop(): Unit = Profile.execute(profiler, s"stop,file=$file,collapsed")
}

object Profile {

  def start(file: String): Profile = {
    val profiler = Class.forName("one.profiler.AsyncProfiler").getMethod("getInstance").invoke(null)
    execute(profiler, "start,event=ctimer,interval=1ms,threads,cstack=vm")
    new Profile(profiler, file)
  }

  private def execute(profiler: AnyRef, command: String): Unit =
    profiler.getClass.getMethod("execute", classOf[String]).invoke(profiler, command)
}
