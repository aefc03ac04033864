package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.json4s.JObject
import org.json4s.jackson.JsonMethods.{compact, render}
import org.scalatest.funsuite.AnyFunSuite

/** The description of an operator, as stored with a checksum. */
class StoredDescriptionSuite extends AnyFunSuite {

  private val stored = JoinDescription.stored(
    s"""{"format":"segments","version":${FormatNumber.Current},"bounds":["a >= b - 1","ü"],"origins":"json /a"}""",
    12
  )

  private def refusal(json: String): String = {
    val e = intercept[StreamJoinRuntimeException](JoinDescription.check("/c/state/0", json))
    assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
    e.getMessage
  }

  test("a stored description is accepted, also with its parts in another order") {
    JoinDescription.check("/c", stored)
    assert(JoinDescription.partitions(stored) == 12)
    val parts = JoinDescription.fields(stored).toList.reverse
    JoinDescription.check("/c", compact(render(JObject(parts))))
  }

  test("a description with any changed, missing or additional character is refused") {
    for (i <- stored.indices) {
      val changed = if (stored(i) == '7') '8' else '7'
      for (damaged <- Seq(stored.updated(i, changed).mkString, stored.take(i)))
        refusal(damaged)
    }
    assert(refusal(stored.replace("json /a", "json /b")).contains(
      "the description of a state cannot be read. Found: its checksum is wrong."
    ))
  }

  test("a description of another format version is refused as such, whatever it contains") {
    val later = """{"version":2,"format":"segments","joinType":["FULL","OUTER"]}"""
    assert(refusal(later).contains("Found: format segments 2. Expected: format segments 1."))
  }

  test("a rescaled description has the new number of partitions, and the other parts") {
    val rescaled = JoinDescription.stored(stored, 5)
    JoinDescription.check("/c", rescaled)
    assert(JoinDescription.partitions(rescaled) == 5)
    def others(json: String) =
      JoinDescription.fields(json) - JoinDescription.Partitions - JoinDescription.Checksums
    assert(others(rescaled) == others(stored))
  }
}
