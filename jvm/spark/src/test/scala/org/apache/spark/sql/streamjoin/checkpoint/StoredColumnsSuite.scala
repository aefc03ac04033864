package org.apache.spark.sql.streamjoin.checkpoint

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.sql.types.StructType
import org.json4s.JObject
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

import io.streamjoin.model.Side

/** Which changes of the nullability of stored columns are refused. */
class StoredColumnsSuite extends AnyFunSuite {

  private def described(left: String, right: String = "id INT"): String =
    compact(render(StoredColumns.part(
      side =>
        DataTypeUtils.toAttributes(StructType.fromDDL(if (side == Side.Left) left else right)),
      _ => None
    ) ~ StoredReferences.part(Nil)))

  private def accepts(before: String, now: String): Boolean =
    try {
      StoredColumns.requireSame("state", before, now)
      true
    } catch {
      case e: StreamJoinRuntimeException =>
        assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
        assert(e.getMessage.contains("may have NULL"))
        false
    }

  test("a column may become nullable, and not the other way") {
    for (
      (nullable, never) <- Seq(
        "v INT" -> "v INT NOT NULL",
        "k INT NOT NULL, v INT" -> "k INT NOT NULL, v INT NOT NULL",
        "s STRUCT<f: INT>" -> "s STRUCT<f: INT NOT NULL>",
        "a ARRAY<STRUCT<f: INT>>" -> "a ARRAY<STRUCT<f: INT NOT NULL>>",
        "m MAP<INT, STRUCT<f: INT>>" -> "m MAP<INT, STRUCT<f: INT NOT NULL>>"
      )
    ) {
      assert(accepts(described(never), described(nullable)), never)
      assert(!accepts(described(nullable), described(never)), never)
      assert(!accepts(described("id INT", nullable), described("id INT", never)), never)
      assert(accepts(described(nullable), described(nullable)))
    }
  }

  test("other columns are left to the check of the schema, and no columns are accepted") {
    assert(accepts(described("v INT"), described("w INT NOT NULL")))
    assert(accepts("{}", described("v INT NOT NULL")))
    // written by a version that stored the nullability of one plan
    val earlier = JoinDescription.fields(described("v INT")) - StoredReferences.Part
    assert(accepts(compact(render(JObject(earlier.toList))), described("v INT NOT NULL")))
  }
}
