package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.streamjoin.PythonCalls
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin
import org.apache.spark.sql.streamjoin.physical.consolidate.PackUpdatesExec

import io.streamjoin.PythonApi

/** Which inputs of a join pack the two images of an update, and by which equal columns. */
class PlannedImagesSuite extends PlannedChangelogs {

  private def changes(name: String): DataFrame = PythonCalls.fromChangelog(
    stream(
      "value AS id",
      "value % 3 AS k",
      "value % 5 AS seq",
      "IF(value > 9, 'delete', 'update_postimage') AS op"
    ).as(name),
    java.util.List.of("id"),
    "op",
    java.util.Map.of[String, String](),
    "seq"
  )

  /** For each join, from the top, and input: the columns equal in both images, and the others. */
  private def paired(on: String): Seq[Seq[(Set[String], Set[String])]] = {
    val joined = PythonApi.streamJoin(
      changes("a").as("a"),
      changes("b").as("b"),
      on,
      "left",
      java.util.Map.of[String, Any]("mode", "changelog")
    )
    session.sessionState.optimizer.execute(planOf(joined)).collect { case j: ChangelogJoin =>
      planned(j).children
        .collect { case p: PackUpdatesExec =>
          (
            p.same.collect { case a: NamedExpression => a.name }.toSet,
            p.packed.replaced.map(_.name).toSet
          )
        }
    }
  }

  test("images from the source are packed by key and sequence") {
    assert(paired("a.id = b.id") == Seq(Seq.fill(2)((Set("id", "seq"), Set("k")))))
  }

  test("images from the normalization are packed without the sequence") {
    val asDeclared = (Set("id", "seq"), Set("k"))
    assert(paired("a.k = b.id") ==
      Seq(Seq((Set("id", "k"), Set("seq")), asDeclared), Seq(asDeclared)))
  }
}
