package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.execution.{FilterExec, LocalTableScanExec}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.checkpoint.formats.StateFormats
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.PythonApi
import io.streamjoin.model.Side

/** Which filters on the result of a changelog join are applied to its inputs. */
class InputFilterSuite extends PlannedChangelogs {

  private def changes(key: String*): DataFrame =
    changes(key, sequence = Option.when(key.nonEmpty)("id"))

  private def spec(
      where: String,
      how: String = "inner",
      left: DataFrame = changes(),
      right: DataFrame = changes()
  ): ChangelogSpec = {
    val options = java.util.Map.of[String, Any]("mode", "changelog")
    val joined =
      PythonApi.streamJoin(left.as("a"), right.as("b"), "a.k = b.k", how, options).where(where)
    session.sessionState.optimizer.execute(planOf(joined)).collect {
      case Filter(condition, j: ChangelogJoin) =>
        planned(j, PlanChangelogJoin.filter(j, condition)._1).spec
    }.head
  }

  private def texts(spec: ChangelogSpec): Set[String] = spec.inputs.filters.map(_.sql).toSet

  private val (ofLeft, ofRight) = ("(left.id > 5L)", "(right.id < 3L)")

  test("filters on one input are applied to it unless the join pads that input with NULL") {
    for (
      (how, expected) <- Seq(
        "inner" -> Set(ofLeft, ofRight),
        "left" -> Set(ofLeft),
        "right" -> Set(ofRight),
        "full" -> Set.empty[String]
      )
    ) {
      val one = spec("a.id > 5 AND (b.id < 3 OR b.id IS NULL AND b.k IS NULL) AND a.id < b.id", how)
      val two = spec("a.id > 5 AND b.id < 3", how)
      // Spark cannot exclude padded rows here, so it does not narrow the join type
      assert(texts(two) == expected, how)
      assert(texts(one).contains(ofLeft) == expected(ofLeft), how)
      assert(!texts(one).exists(_.contains("left.id < right.id")), how)
    }
    for (how <- Seq("left_semi", "left_anti"))
      assert(texts(spec("id > 5", how)) == Set(ofLeft), how)
  }

  test("inputs with a key are not filtered") {
    assert(texts(spec("a.id > 5 AND b.id < 3", left = changes("k"))) == Set(ofRight))
    assert(texts(spec("a.id > 5 AND b.id < 3", right = changes("id"))) == Set(ofLeft))
  }

  test("filters that depend on the time zone or whose text changes at each start are not applied") {
    assert(texts(spec("hour(a.t) = 5 AND b.id < 3")) == Set(ofRight))
    assert(texts(spec("exists(array(a.id), x -> x > 5) AND b.id < 3")) == Set(ofRight))
  }

  test("IS NOT NULL is applied if no other filter implies it") {
    assert(texts(spec("a.id IS NOT NULL AND b.id < 3")) == Set("(left.id IS NOT NULL)", ofRight))
  }

  test("applied filters are in the plan of the inputs and in the checkpoint description") {
    val one = spec("a.id > 5 AND b.id < 3 AND a.k < 2")
    def over(side: Side) =
      InputFilter.over(
        LocalTableScanExec(one.side(side).columns, Nil, None),
        side,
        one.inputs.filters
      )
    assert(over(Side.Left).collect { case f: FilterExec =>
      f.condition.references.map(_.name).toSet
    } ==
      Seq(Set("id", "k")))
    assert(over(Side.Right).exists(_.isInstanceOf[FilterExec]))
    def described(spec: ChangelogSpec) =
      DescribedChangelog.of(spec, StateFormats.of("segments")).json
    assert(JoinDescription.filters(described(one)).toSet ==
      Set(ofLeft, ofRight, "(left.k < 2L)"))
    assert(JoinDescription.filters(described(one.copy(inputs =
      one.inputs.copy(filters = Nil)
    ))).isEmpty)
    assert(JoinDescription.read(described(one)).changelog.exists(_.filters.length == 3))
  }
}
