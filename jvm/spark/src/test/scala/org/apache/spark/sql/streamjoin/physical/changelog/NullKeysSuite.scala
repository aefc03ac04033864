package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.PythonCalls
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin
import org.apache.spark.sql.streamjoin.physical.exchange.RowHash
import org.apache.spark.sql.types.LongType

import io.streamjoin.PythonApi

/** Join keys that are NULL, whose hash equals that of some number. */
class NullKeysSuite extends PlannedChangelogs {

  private def input(name: String): DataFrame = PythonCalls.fromChangelog(
    stream(
      "IF(value > 5, value, NULL) AS n",
      "CAST(value AS STRING) AS s",
      "value % 3 AS k",
      "IF(value > 9, 'delete', 'insert') AS op"
    ),
    java.util.List.of(),
    "op",
    java.util.Map.of[String, String](),
    null
  ).as(name)

  private def spec(on: String): ChangelogSpec = {
    val joined = PythonApi.streamJoin(
      input("a"),
      input("b"),
      on,
      "left",
      java.util.Map.of[String, Any]("mode", "changelog")
    )
    planned(session.sessionState.optimizer.execute(planOf(joined)).collectFirst {
      case j: ChangelogJoin => j
    }.get).spec
  }

  test("NULL matches neither NULL nor the number with the same hash") {
    val joined = spec("a.n = b.n")
    val rows = new UnsafeChangelogRows(joined)
    val likeNull = java.lang.Long.valueOf(7997738013315500161L)
    def row(of: ChangelogSide, n: java.lang.Long): UnsafeRow = {
      val columns: Seq[Attribute] = of.storedColumns
      val values = columns.map(a => if (a.name == "n") n else null)
      UnsafeProjection.create(columns, columns)(InternalRow.fromSeq(values)).copy()
    }
    val number = AttributeReference("n", LongType)()
    val hash = new RowHash(Seq(number), Seq(number))
    def hashOf(n: java.lang.Long) =
      hash(UnsafeProjection.create(Seq(number), Seq(number))(InternalRow(n)))
    assert(hashOf(likeNull) == KeyHash.Seed && hashOf(null) == KeyHash.Seed)
    val none: java.lang.Long = null
    for ((l, r) <- Seq((none, none), (likeNull, none), (none, likeNull)))
      assert(!rows.matches(row(joined.left, l), row(joined.right, r)))
    assert(rows.matches(row(joined.left, likeNull), row(joined.right, likeNull)))
  }
}
