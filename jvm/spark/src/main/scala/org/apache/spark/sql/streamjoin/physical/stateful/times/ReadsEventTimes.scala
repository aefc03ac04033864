package org.apache.spark.sql.streamjoin.physical.stateful.times

import java.util.function.LongPredicate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

/**
 * Unary physical operator that inspects the event time of each row, and may drop the row. A row
 * without a time passes.
 */
private[physical] trait ReadsEventTimes extends FusedWithChild {

  /** The event-time column. */
  protected def time: Attribute

  /**
   * Inspects a time that is not NULL, in a task. Returns whether the row passes. Must be
   * serializable.
   */
  protected def look: LongPredicate

  override protected def doExecute(): RDD[InternalRow] = {
    val ordinal = child.output.indexWhere(_.exprId == time.exprId)
    val (read, look) = (TimeReader.of(time.dataType), this.look)
    child.execute().mapPartitionsInternal(
      _.filter(row => row.isNullAt(ordinal) || look.test(read(row, ordinal)))
    )
  }

  /**
   * Generates code without a class of this project, because the class loader of the compiler may
   * not find it.
   */
  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val looking = ctx.addReferenceObj("look", look, classOf[LongPredicate].getName)
    val read = input(child.output.indexWhere(_.exprId == time.exprId))
    // the time of a window is its end
    val value = if (TimeUnit.isWindow(time.dataType)) s"${read.value}.getLong(1)" else read.value
    s"""
       |do {
       |  if (!${read.isNull} && !$looking.test($value)) continue;
       |  ${consume(ctx, input)}
       |} while (false);
     """.stripMargin
  }
}
