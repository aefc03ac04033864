package org.apache.spark.sql.streamjoin.physical.stateful.times

import java.util.function.{Consumer, LongPredicate}

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BindReferences,
  Expression,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
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

  /**
   * The columns whose values [[look]] receives before each time, if there are any. It must be a
   * `Consumer[InternalRow]` then. The row is valid until the next one.
   */
  protected def per: Seq[Attribute] = Nil

  override protected def doExecute(): RDD[InternalRow] = {
    val ordinal = child.output.indexWhere(_.exprId == time.exprId)
    val (read, look) = (TimeReader.of(time.dataType), this.look)
    val (per, columns) = (this.per, child.output)
    child.execute().mapPartitionsInternal { rows =>
      val group: InternalRow => Unit =
        if (per.isEmpty) _ => ()
        else {
          val values = UnsafeProjection.create(per, columns)
          val receive = ReadsEventTimes.receiver(look)
          row => receive.accept(values(row))
        }
      rows.filter { row =>
        row.isNullAt(ordinal) || {
          group(row)
          look.test(read(row, ordinal))
        }
      }
    }
  }

  /**
   * Generates code without a class of this project, because the class loader of the compiler may
   * not find it.
   */
  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val look = this.look
    val looking = ctx.addReferenceObj("look", look, classOf[LongPredicate].getName)
    val read = input(child.output.indexWhere(_.exprId == time.exprId))
    // the time of a window is its end
    val value = if (TimeUnit.isWindow(time.dataType)) s"${read.value}.getLong(1)" else read.value
    s"""
       |do {
       |  if (!${read.isNull}) {
       |    ${grouped(ctx, input, look)}
       |    if (!$looking.test($value)) continue;
       |  }
       |  ${consume(ctx, input)}
       |} while (false);
     """.stripMargin
  }

  private def grouped(ctx: CodegenContext, input: Seq[ExprCode], look: LongPredicate): String =
    if (per.isEmpty) ""
    else {
      val receiver =
        ctx.addReferenceObj("group", ReadsEventTimes.receiver(look), classOf[Consumer[_]].getName)
      ctx.currentVars = input
      ctx.INPUT_ROW = null
      val values = GenerateUnsafeProjection
        .createCode(ctx, BindReferences.bindReferences[Expression](per, child.output))
      s"${values.code}\n$receiver.accept(${values.value});"
    }
}

private object ReadsEventTimes {

  def receiver(look: LongPredicate): Consumer[InternalRow] =
    look.asInstanceOf[Consumer[InternalRow]]
}
