package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.function.LongPredicate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

/**
 * Looks at the event time of each row that passes. It changes nothing.
 */
private[physical] trait LooksAtTimes extends InLoopBelow {

  /** The column. */
  protected def time: Attribute

  /** In a task, asked of each time that is not NULL: whether its row goes on. To be serializable. */
  protected def look: LongPredicate

  override protected def doExecute(): RDD[InternalRow] = {
    val ordinal = child.output.indexWhere(_.exprId == time.exprId)
    val (read, look) = (TimeReader.of(time.dataType), this.look)
    child.execute().mapPartitionsInternal(
      _.filter(row => row.isNullAt(ordinal) || look.test(read(row, ordinal)))
    )
  }

  /** Of this project's classes the code names none: whoever compiles it may not see them. */
  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val looking = ctx.addReferenceObj("look", look, classOf[LongPredicate].getName)
    val read = input(child.output.indexWhere(_.exprId == time.exprId))
    // a window's time is its end
    val value = if (TimeUnit.isWindow(time.dataType)) s"${read.value}.getLong(1)" else read.value
    s"""
       |do {
       |  if (!${read.isNull} && !$looking.test($value)) continue;
       |  ${consume(ctx, input)}
       |} while (false);
     """.stripMargin
  }
}
