object JvmFlags {

  /** What Spark's own launcher passes to a JVM of version 17. */
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

  /**
   * For many short queries: the second compiler costs more than it saves, and for what the first one
   * compiles of them the JVM leaves too little room.
   */
  val forShortQueries: Seq[String] =
    forSpark ++ Seq(
      "-XX:TieredStopAtLevel=1",
      "-XX:ReservedCodeCacheSize=512m",
      "-XX:+UseSerialGC"
    )
}
