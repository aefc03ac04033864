package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Union}
import org.apache.spark.sql.catalyst.streaming.{StreamingRelationV2, UserProvided}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCapability}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{InputSource, StreamJoinInput}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamOrder
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** How the streaming sources of an input are identified. */
class InputSourcesSuite extends AnalysisSession {

  private object NoTable extends Table {
    override def name: String = "none"
    override def capabilities: java.util.Set[TableCapability] = java.util.Set.of()
  }

  private def source(kind: String, options: (String, String)*): StreamingRelationV2 =
    StreamingRelationV2(
      None,
      kind,
      NoTable,
      new CaseInsensitiveStringMap(options.toMap.asJava),
      DataTypeUtils.toAttributes(StructType.fromDDL("id INT")),
      None,
      None,
      None
    )

  private def sources(plan: LogicalPlan*): Seq[InputSource] =
    InputSources.of(if (plan.length == 1) plan.head else Union(plan))

  private def of(plan: LogicalPlan*): Seq[String] = sources(plan: _*).flatMap(_.identities)

  test("a Kafka source is identified by its topics only") {
    val servers = "kafka.bootstrap.servers" -> "broker:9092"
    val secret = "kafka.sasl.jaas.config" -> "password=secret"
    assert(of(source("kafka", servers, secret, "subscribe" -> "b, a")) == Seq("kafka b", "kafka a"))
    assert(of(source("kafka", servers, "subscribePattern" -> "a.*")) == Seq("kafka a.*"))
    assert(of(source("kafka", servers, "assign" -> """{"a":[0,1]}""")) == Seq("kafka a List(0, 1)"))
    assert(of(source("kafka", servers, "assign" -> "no json")) == Seq("kafka no json"))
  }

  test("another source is identified by its kind and location, or by its kind alone") {
    assert(of(source("socket", "HOST" -> "here", "port" -> "1")) == Seq("socket here 1"))
    assert(of(source("rate", "rowsPerSecond" -> "5")) == Seq("rate"))
    assert(of(source("mine", "path" -> "file:/a/b/")) == Seq("mine /a/b"))
    assert(of(source("mine", "path" -> "s3a://bucket/b*")) == Seq("mine s3a://bucket/b*"))
  }

  test("a table name and a source name take precedence over a location") {
    val table =
      source("mine", "path" -> "/a").copy(identifier = Some(Identifier.of(Array("n"), "t")))
    assert(of(table) == Seq("table n.t"))
    val named = source("mine", "path" -> "/a").withSourceIdentifyingName(UserProvided("orders"))
    assert(of(named) == Seq("source orders"))
    assert(sources(named) == Seq(InputSource(Some("orders"), Seq("mine /a"))))
  }

  test("a union has the sources of its branches in order, repeated ones included") {
    assert(of(source("b"), source("a"), source("b")) == Seq("b", "a", "b"))
    val topics = source("kafka", "subscribe" -> "b,a")
    assert(sources(topics, source("a")).map(_.locations) == Seq(
      Seq("kafka b", "kafka a"),
      Seq("a")
    ))
  }

  test("a join records the sources of each input, and an order those below it") {
    val folders = Seq("o", "d").map(name => Files.createTempDirectory(name).toString)
    def read(folder: String, alias: String) =
      ordered(session.readStream.schema("id INT, t TIMESTAMP").json(folder), "t").alias(alias)
    val (o, d) = (read(folders.head, "o"), read(folders.last, "d"))
    val on = "o.id = d.id AND d.t BETWEEN o.t AND o.t + INTERVAL '1' MINUTE"
    val both = joined(o, d, on).selectExpr("o.id", "o.t AS t")
    val inputs = planOf(both).collect { case i: StreamJoinInput => i.sources }
    assert(inputs == folders.map(folder => Seq(InputSource(None, Seq(s"json $folder")))))
    val order = planOf(both.orderBy("t")).collect { case s: StreamOrder => s.child }
      .collect { case i: StreamJoinInput => i.sources }
    assert(order == Seq(folders.map(folder => InputSource(None, Seq(s"json $folder")))))
  }
}
