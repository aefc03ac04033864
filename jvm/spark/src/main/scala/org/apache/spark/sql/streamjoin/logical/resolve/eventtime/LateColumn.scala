package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.JoinNode
import org.apache.spark.sql.streamjoin.logical.plan.options.LateRows
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal
import org.apache.spark.sql.types.{StringType, StructType}

/** The output column with the reason why a row is late; NULL in all other rows. */
private[streamjoin] object LateColumn extends PredicateHelper {

  val Name: String = "late"

  val dataType: StructType = new StructType()
    .add("input", StringType, nullable = false)
    .add("column", StringType, nullable = false)
    .add("watermark", StringType, nullable = false)

  /**
   * A join that emits late rows.
   *
   * @param build builds the node
   * @param columns the output columns of the join, without this column
   * @param byNames whether the join is by column names, so that the output has one copy of each key
   */
  def emit(join: Join, columns: Seq[NamedExpression], byNames: Boolean)(
      build: LateRows => Either[Refusal, JoinNode]
  ): Either[Refusal, LogicalPlan] = {
    val late = AttributeReference(Name, dataType)()
    val keys = if (byNames) join.condition.toSeq.flatMap(splitConjunctivePredicates) else Nil
    build(LateRows(late, sharedKeys = keys)).map { ours =>
      val found = AttributeSet(ours.late.toSeq.flatMap(_.below))
      val required = columns.filterNot(c => found.contains(c.toAttribute))
      refuseTaken(join, required)
      // Spark renames an alias in a self-join
      Project(required :+ Alias(late, Name)(), ours)
    }
  }

  /** A join of tables, without late rows. */
  def empty(plan: LogicalPlan): LogicalPlan = {
    refuseTaken(plan, plan.output)
    Project(plan.output :+ Alias(Literal(null, dataType), Name)(), plan)
  }

  private def refuseTaken(plan: LogicalPlan, columns: Seq[NamedExpression]): Unit =
    columns.find(c => SQLConf.get.resolver(c.name, Name)).foreach { c =>
      throw StreamJoinErrors.analysis(
        "LATE_COLUMN_EXISTS",
        plan.origin,
        "column" -> ColumnNames.of(c.toAttribute),
        "columns" -> columns.map(n => ColumnNames.of(n.toAttribute)).mkString(", ")
      )
    }
}
