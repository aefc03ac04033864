package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.LateRows
import org.apache.spark.sql.types.{StringType, StructType}

/** The column that says why a row came out as late, where late rows come out; NULL in all others. */
private[streamjoin] object LateColumn extends PredicateHelper {

  val Name: String = "late"

  val dataType: StructType = new StructType()
    .add("input", StringType, nullable = false)
    .add("column", StringType, nullable = false)
    .add("watermark", StringType, nullable = false)

  /**
   * A join out of which late rows come.
   *
   * @param columns what comes out of the join, without this column
   * @param byNames whether the join is by column names: of the keys only one copy comes out
   */
  def emit(join: Join, columns: Seq[NamedExpression], byNames: Boolean): LogicalPlan = {
    val late = AttributeReference(Name, dataType)()
    val keys = if (byNames) join.condition.toSeq.flatMap(splitConjunctivePredicates) else Nil
    val ours = StreamJoinBuilder.required(join, Some(LateRows(late, sharedKeys = keys)))
    val found = AttributeSet(ours.late.toSeq.flatMap(_.below))
    val required = columns.filterNot(c => found.contains(c.toAttribute))
    refuseTaken(join, required)
    // an alias is what Spark renames where a stream is joined with itself
    Project(required :+ Alias(late, Name)(), ours)
  }

  /** A join of tables, of which no row is late. */
  def empty(plan: LogicalPlan): LogicalPlan = {
    refuseTaken(plan, plan.output)
    Project(plan.output :+ Alias(Literal(null, dataType), Name)(), plan)
  }

  private def refuseTaken(plan: LogicalPlan, columns: Seq[NamedExpression]): Unit =
    columns.find(c => SQLConf.get.resolver(c.name, Name)).foreach { c =>
      throw StreamJoinErrors.lateColumnExists(
        plan.origin,
        c.toAttribute,
        columns.map(_.toAttribute)
      )
    }
}
