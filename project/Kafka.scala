import sbt._
import sbt.Keys._
import sbt.librarymanagement.UnresolvedWarning

/**
 * The jars of a Kafka broker, and the jars with which Spark reads from a broker and writes to it. The
 * tests on other versions of Spark have the connector of the default one, too.
 */
object Kafka {
  val stageKafka =
    taskKey[File]("Copies the jars of a Kafka broker and of Spark's connector to it.")

  private val Broker = config("broker")
  private val Connector = config("connector")

  private val brokerVersion = sys.env.getOrElse("STREAMJOIN_KAFKA_BROKER", "4.3.1")

  /**
   * The connector's part for delegation tokens is to be of Spark's own version. A mirror that has not
   * got it may have this earlier one, in which the connector finds all that it calls but for those
   * tokens: enough for tests against a broker without Kerberos. Only the jars named here are
   * copied, without their dependencies.
   */
  private val tokenProviderVersion = sys.env.get("STREAMJOIN_KAFKA_TOKEN_PROVIDER")
  private val tokenProviderInItsPlace = "4.1.0-preview1"

  def settings(sparkVersion: String): Seq[Setting[_]] = Seq(
    publish / skip := true,
    ivyConfigurations ++= Seq(Broker, Connector),
    libraryDependencies ++= Seq(
      "org.apache.kafka" %% "kafka" % brokerVersion % Broker,
      "org.apache.logging.log4j" % "log4j-slf4j-impl" % "2.25.4" % Broker
    ),
    // What these three and the token provider depend on, Spark carries itself.
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql-kafka-0-10" % sparkVersion % Connector,
      "org.apache.kafka" % "kafka-clients" % "3.9.2" % Connector,
      "org.apache.commons" % "commons-pool2" % "2.13.1" % Connector
    ).map(_.intransitive()),
    stageKafka := {
      val folder = baseDirectory.value / "jars"
      val found = update.value
      val resolution = dependencyResolution.value
      val scala = scalaModuleInfo.value
      val retrieved = target.value / "token-provider"
      IO.delete(folder)
      for {
        configuration <- Seq(Broker, Connector)
        jar <- found.select(configurationFilter(configuration.name)).distinct
      } IO.copyFile(jar, folder / configuration.name / jar.getName)
      val jar = tokenProvider(
        tokenProviderVersion.fold(Seq(sparkVersion, tokenProviderInItsPlace))(Seq(_)),
        version =>
          resolution.retrieve(
            ("org.apache.spark" %% "spark-token-provider-kafka-0-10" % version).intransitive(),
            scala,
            retrieved / version,
            Logger.Null
          ),
        streams.value.log
      )
      IO.copyFile(jar, folder / Connector.name / jar.getName)
      folder
    }
  )

  /** The first of the versions that can be had; says so where it is not the first of all. */
  private def tokenProvider(
      versions: Seq[String],
      retrieve: String => Either[UnresolvedWarning, Vector[File]],
      log: Logger
  ): File =
    versions
      .iterator
      .map(version => version -> retrieve(version))
      .collectFirst { case (version, Right(files)) =>
        if (version != versions.head)
          log.warn(
            s"spark-token-provider-kafka-0-10 ${versions.head} was not found; $version is in its " +
              "place, with which Kafka's delegation tokens (Kerberos) do not work"
          )
        // its sources and documentation come along
        files.filter(_.getName.endsWith(s"-$version.jar")).head
      }
      .getOrElse(
        sys.error(
          s"spark-token-provider-kafka-0-10 was not found in any of ${versions.mkString(", ")}; " +
            "STREAMJOIN_KAFKA_TOKEN_PROVIDER names another version"
        )
      )
}
