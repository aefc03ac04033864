package org.apache.spark.sql.streamjoin.logical.plan.changes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  BindReferences,
  UnsafeProjection
}
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** The translation of words into row kinds, and the error for unknown words. */
class ChangeKindOfSuite extends AnyFunSuite {

  private val op = AttributeReference("op", StringType)()

  /** The expression in both of Spark's modes: interpreted and compiled. */
  private def kinds(words: Map[String, String]): Seq[String => String] = {
    val kind =
      BindReferences.bindReference(ChangeKindOf(op, words)("value.op", "Write so"), Seq(op))
    def row(word: String) = InternalRow(UTF8String.fromString(word))
    val compiled = UnsafeProjection.create(Seq(kind))
    Seq(w => kind.eval(row(w)).toString, w => compiled(row(w)).getUTF8String(0).toString)
  }

  test("known words are translated in any case and with spaces around them") {
    for (of <- kinds(ChangeKindOf.known)) {
      val words = Seq("insert", "+I", "UPDATE_BEFORE", "-u", " Update_After", "+U", "DELETE ", "-d")
      assert(words.map(of) == Seq(
        "insert",
        "insert",
        "update_preimage",
        "update_preimage",
        "update_postimage",
        "update_postimage",
        "delete",
        "delete"
      ))
    }
  }

  test("the error for an unknown word or NULL names the column, the known words and the fix") {
    for (of <- kinds(Map("c" -> "insert", "b" -> "delete")); word <- Seq("insert", "", "t", null)) {
      val message = intercept[StreamJoinRuntimeException](of(word)).getMessage
      val found = word match {
        case null => "NULL"
        case "t"  => "'t'"
        case _    => s"a value of ${word.length} characters"
      }
      assert(message.contains(s"the column value.op has $found, which is no row kind"), message)
      assert(message.contains("Known: b, c.") && message.contains("Write so."), message)
    }
  }
}
