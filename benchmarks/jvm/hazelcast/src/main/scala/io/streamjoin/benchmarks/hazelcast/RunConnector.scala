package io.streamjoin.benchmarks.hazelcast

import java.util

import scala.jdk.CollectionConverters._

import com.hazelcast.function.{FunctionEx, SupplierEx}
import com.hazelcast.jet.core.{EventTimePolicy, Processor, ProcessorMetaSupplier, Vertex}
import com.hazelcast.jet.sql.impl.connector.{HazelcastRexNode, SqlConnector}
import com.hazelcast.jet.sql.impl.connector.SqlConnector._
import com.hazelcast.jet.sql.impl.schema.JetTable
import com.hazelcast.spi.impl.NodeEngine
import com.hazelcast.sql.impl.expression.{Expression, ExpressionEvalContext}
import com.hazelcast.sql.impl.optimizer.PlanObjectKey
import com.hazelcast.sql.impl.row.JetSqlRow
import com.hazelcast.sql.impl.schema._

/** The inputs of a run as streams, and what takes its result in; Hazelcast finds it by its service file. */
final class RunConnector extends SqlConnector {
  override def typeName: String = RunConnector.Type
  override def defaultObjectType: String = "Run"

  override def resolveAndValidateFields(
      node: NodeEngine,
      resource: SqlExternalResource,
      declared: util.List[MappingField]
  ): util.List[MappingField] = declared

  override def createTable(
      node: NodeEngine,
      schema: String,
      name: String,
      resource: SqlExternalResource,
      fields: util.List[MappingField]
  ): Table =
    new RunTable(
      this,
      schema,
      name,
      fields,
      resource.options.get("run"),
      resource.externalName()(0)
    )

  override def fullScanReader(
      context: DagBuildContext,
      predicate: HazelcastRexNode,
      projection: util.List[HazelcastRexNode],
      partitions: util.List[util.Map[String, Expression[_]]],
      order: FunctionEx[ExpressionEvalContext, EventTimePolicy[JetSqlRow]]
  ): Vertex = {
    val table = context.getTable[RunTable]()
    val (run, stream) = (table.run, table.stream)
    val condition = context.convertFilter(predicate)
    val columns = context.convertProjection(projection)
    vertex(context, stream, () => new RowsP(Run.of(run), stream, condition, columns, order))
  }

  override def sinkProcessor(context: DagBuildContext): Vertex = {
    val run = context.getTable[RunTable]().run
    vertex(context, "result", () => new CheckingP(Run.of(run)))
  }

  override def supportsExpression(expression: HazelcastRexNode): Boolean = true

  private def vertex(context: DagBuildContext, name: String, processor: SupplierEx[Processor]) =
    context.getDag.newUniqueVertex(name, ProcessorMetaSupplier.of(processor))
}

private object RunConnector {
  val Type = "BenchmarkRun"
}

/** @param stream of the run's workload, for its inputs */
private final class RunTable(
    connector: SqlConnector,
    schema: String,
    name: String,
    fields: util.List[MappingField],
    val run: String,
    val stream: String
) extends JetTable(
      connector,
      fields.asScala.map(f => new TableField(f.name, f.`type`, false)).asJava,
      schema,
      name,
      new ConstantTableStatistics(Integer.MAX_VALUE),
      null,
      true
    ) {

  /** Plans are not kept: every run has mappings of its own. */
  override def getObjectKey: PlanObjectKey = null
}
