import sbt._
import sbt.Keys._

/** The jars of a Kafka broker, and those that Spark needs to read from one and to write to it. */
object Kafka {
  val stageKafka =
    taskKey[File]("Copies the jars of a Kafka broker and of Spark's connector to it.")

  private val Broker = config("broker")
  private val Connector = config("connector")

  // Who reaches other artifacts than the build does names them: this one is not published
  // everywhere in the version of Spark, whose connector calls nothing in it that differs.
  private val tokenProviderVersion =
    sys.env.getOrElse("STREAMJOIN_KAFKA_TOKEN_PROVIDER", "4.1.0-preview1")
  private val brokerVersion = sys.env.getOrElse("STREAMJOIN_KAFKA_BROKER", "4.3.1")

  def settings(sparkVersion: String): Seq[Setting[_]] = Seq(
    publish / skip := true,
    ivyConfigurations ++= Seq(Broker, Connector),
    libraryDependencies ++= Seq(
      "org.apache.kafka" %% "kafka" % brokerVersion % Broker,
      "org.apache.logging.log4j" % "log4j-slf4j-impl" % "2.25.4" % Broker
    ),
    // What these four depend on, Spark carries itself.
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql-kafka-0-10" % sparkVersion % Connector,
      "org.apache.spark" %% "spark-token-provider-kafka-0-10" % tokenProviderVersion % Connector,
      "org.apache.kafka" % "kafka-clients" % "3.9.2" % Connector,
      "org.apache.commons" % "commons-pool2" % "2.13.1" % Connector
    ).map(_.intransitive()),
    stageKafka := {
      val folder = baseDirectory.value / "jars"
      val found = update.value
      IO.delete(folder)
      for {
        configuration <- Seq(Broker, Connector)
        jar <- found.select(configurationFilter(configuration.name)).distinct
      } IO.copyFile(jar, folder / configuration.name / jar.getName)
      folder
    }
  )
}
