import sbt._
import sbt.Keys._

/**
 * The versions of Spark, and the sources that are compiled for each.
 *
 * {{{
 *   jvm/spark/src/main/scala                  every version
 *   jvm/spark/src/main/scala-spark-4.0        4.0
 *   jvm/spark/src/main/scala-spark-4.1-4.2    4.1 to 4.2
 * }}}
 *
 * `sbt -Dspark.version=4.1.1` compiles and packages for that version; `sbt 'forEachSpark stagePython'` makes
 * the jar of each range.
 */
object SparkVersions {

  /**
   * Versions that one jar runs on.
   *
   * @param name the oldest minor version, which names the jar and its folders of sources
   * @param minors the minor versions
   * @param compiledFor the oldest release of them that can be had
   */
  final case class Range(name: String, minors: Seq[String], compiledFor: String)

  val ranges: Seq[Range] = Seq(
    Range("4.0", Seq("4.0"), "4.0.1"),
    Range("4.1", Seq("4.1"), "4.1.1"),
    Range("4.2", Seq("4.2", "4.3"), "4.2.0")
  )

  val default: String = ranges.last.compiledFor

  val sparkVersion = settingKey[String]("The version of Spark to compile for.")

  val sparkRange = settingKey[Range]("The versions of Spark that the jar runs on.")

  val inBuild: Seq[Setting[_]] = Seq(
    sparkVersion := sys.props.getOrElse("spark.version", default),
    sparkRange := rangeOf(sparkVersion.value)
  )

  /** One folder of results for each range, so that each compiles incrementally. */
  val settings: Seq[Setting[_]] = Seq(
    name := "streamjoin",
    moduleName := s"streamjoin-spark-${sparkRange.value.name}",
    target := {
      val range = sparkRange.value
      if (range == ranges.last) target.value else target.value / s"spark-${range.name}"
    },
    Compile / unmanagedSourceDirectories ++= folders(
      (Compile / sourceDirectory).value,
      sparkRange.value
    ),
    Compile / resourceGenerators += Def.task {
      val file = (Compile / resourceManaged).value / "streamjoin.properties"
      val minors = sparkRange.value.minors.mkString(",")
      IO.write(file, s"version=${version.value}\nspark=$minors\n")
      Seq(file)
    }.taskValue
  )

  /** Runs tasks for each range, the default one last: the sbt session continues with it. */
  val forEachSpark: Command = Command.args("forEachSpark", "<task>...") { (state, tasks) =>
    val steps = ranges.toList.flatMap { range =>
      val set = s"""set ThisBuild / SparkVersions.sparkVersion := "${range.compiledFor}""""
      set :: tasks.toList
    }
    steps ::: state
  }

  private def rangeOf(version: String): Range = {
    val minor = version.split('.').take(2).mkString(".")
    ranges
      .find(_.minors.contains(minor))
      .getOrElse(sys.error(s"spark.version: $version is none of ${ranges.flatMap(_.minors)}"))
  }

  private def folders(main: File, range: Range): Seq[File] =
    IO.listFiles(main).toSeq.filter { folder =>
      folder.getName match {
        case Folder(first, last) =>
          val (from, to) = (place(first), place(Option(last).getOrElse(first)))
          from <= place(range.name) && place(range.name) <= to
        case _ => false
      }
    }

  private val Folder = """scala-spark-(\d+\.\d+)(?:-(\d+\.\d+))?""".r

  private def place(minor: String): Int = {
    val Array(major, rest) = minor.split('.').map(_.toInt)
    major * 1000 + rest
  }
}
