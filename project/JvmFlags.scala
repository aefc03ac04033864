/** What Spark's own launcher passes to a JVM of version 17. */
object JvmFlags {
  val forSpark: Seq[String] =
    Seq("-Xmx3g", "-XX:+IgnoreUnrecognizedVMOptions", "--add-modules=jdk.incubator.vector") ++
      Seq(
        "java.lang",
        "java.lang.invoke",
        "java.lang.reflect",
        "java.io",
        "java.net",
        "java.nio",
        "java.util",
        "java.util.concurrent",
        "java.util.concurrent.atomic",
        "jdk.internal.ref",
        "sun.nio.ch",
        "sun.nio.cs",
        "sun.security.action",
        "sun.util.calendar"
      ).map(p => s"--add-opens=java.base/$p=ALL-UNNAMED")
}
