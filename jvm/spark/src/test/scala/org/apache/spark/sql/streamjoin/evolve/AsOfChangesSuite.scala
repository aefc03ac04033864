package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal}
import org.apache.spark.sql.streamjoin.checkpoint._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, JoinType}
import io.streamjoin.placement.Routing

class AsOfChangesSuite extends AnyFunSuite {

  private def join(key: String, which: String = "the last 1 of the right input") = {
    val time = StoredTime("left.t", TimestampType)
    val times =
      DescribedTimes(Nil, Nil, BySide.of(_ => time), BySide.of(_ => Seq(time)), Seq(time -> "t"))
    val kind = DescribedKind.AsOf(which)
    JoinDescription("segments", JoinType.Inner, Routing.ByKey, Seq(key), times, None, kind)
  }

  /** The column `k` of both inputs, with its type before and after. */
  private def column(types: (DataType, DataType)) = Seq(ColumnChange(
    Some(AttributeReference("k", types._2)()),
    Some(StructField("k", types._1)),
    Literal(null),
    ""
  ))

  private def areKnown(
      before: JoinDescription,
      now: JoinDescription,
      left: (DataType, DataType),
      right: (DataType, DataType),
      renamed: String => String = identity
  ): Boolean = AsOfChanges.areKnown(before, now, BySide(column(left), column(right)), renamed)

  private val same = IntegerType -> IntegerType
  private val wide = IntegerType -> LongType

  test("a key of a wider type is the same key") {
    assert(areKnown(join("k = k: INT"), join("k = k: BIGINT"), wide, wide))
    assert(areKnown(join("k = k: INT"), join("k = k: INT"), same, same))
    assert(areKnown(join("k = k: INT"), join("CAST(k AS BIGINT) = k: BIGINT"), same, wide))
  }

  test("a key with another condition is another key") {
    assert(!areKnown(join("k = k: INT"), join("k <=> k: INT"), same, same))
    assert(!areKnown(join("k = k: INT"), join("(k + 1) = k: INT"), same, same))
    // it is equal for several values of the column
    val double = DoubleType -> DoubleType
    assert(!areKnown(join("k = k: DOUBLE"), join("CAST(k AS INT) = k: INT"), double, double))
  }

  test("the sequence of versions may have another name") {
    def versions(by: String) =
      join("k = k: INT", s"the version, of one time the last by $by, up to 0 later, any age")
    val renamed = (text: String) => text.replaceAll("\\btime\\b", "at")
    assert(areKnown(versions("time"), versions("at"), same, same, renamed))
    assert(areKnown(versions("n"), versions("n"), same, same, renamed))
    assert(!areKnown(versions("n"), versions("m"), same, same, renamed))
  }
}
