package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Ascending, Attribute, SortOrder}
import org.apache.spark.sql.execution.{LeafExecNode, ProjectExec}
import org.apache.spark.sql.functions.{col, window}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ClaimedOrder, InOrder}

/** The order that a query claims for its rows. */
class InOrderSuite extends AnalysisSession {

  private lazy val a =
    ordered(stream("value AS k", "value AS x", "timestamp AS t"), "t").orderBy("t", "k")

  private def claimed(df: DataFrame): Seq[String] = InOrder.of(planOf(df)) match {
    case o: InOrder =>
      assert(o.claimed.order.forall(_.references.subsetOf(o.outputSet)))
      assert(InOrder.of(o) eq o)
      o.claimed.words
    case _ => Nil
  }

  test("the claimed order has the output columns up to the first missing one") {
    assert(claimed(a) == Seq("t", "k"))
    assert(claimed(a.select(col("k").as("key"), col("t").as("at"))) == Seq("at", "key"))
    assert(claimed(a.select("x", "t")) == Seq("t"))
    assert(claimed(a.select("x", "k")).isEmpty)
    assert(claimed(a.where("x > 3").withColumn("y", col("x") + 1)) == Seq("t", "k"))
    a.createOrReplaceTempView("in_an_order")
    assert(claimed(session.sql("SELECT k, t AS at FROM in_an_order AS i")) == Seq("at", "k"))
  }

  test("unordered queries and windows claim no order") {
    val times = ordered(stream("value AS k", "timestamp AS t"), "t")
    assert(claimed(times).isEmpty)
    assert(claimed(times.select(window(col("t"), "1 minute"), col("k")).orderBy("window")).isEmpty)
  }

  test("a plan with other columns claims the order only as far as its child has it") {
    val order = claimedIn(a.select("t", "k"))
    val columns = planOf(a).output.map(_.newInstance())
    def claims(keys: Int, list: Attribute => Attribute): Seq[SortOrder] = {
      val below = InOrderSuite.Rows(
        columns,
        order.order.indices.take(keys).map { i =>
          SortOrder(columns.find(_.name == Seq("t", "k")(i)).get, Ascending)
        }
      )
      val named = Seq("t", "k").map(n => list(columns.find(_.name == n).get))
      InOrderExec(
        order,
        ProjectExec(named.map(c => Alias(c, s"${c.name}_")()), below)
      ).outputOrdering
    }
    assert(claims(2, identity) == order.order)
    assert(claims(1, identity) == order.order.take(1))
    assert(claims(0, identity).isEmpty)
    // the projection has another column instead of the second key
    assert(claims(2, c => if (c.name == "k") columns.find(_.name == "x").get else c) ==
      order.order.take(1))
  }

  private def claimedIn(df: DataFrame): ClaimedOrder =
    InOrder.of(planOf(df)).asInstanceOf[InOrder].claimed
}

private object InOrderSuite {

  /** Rows with a known order. */
  final case class Rows(output: Seq[Attribute], override val outputOrdering: Seq[SortOrder])
      extends LeafExecNode {
    override protected def doExecute(): RDD[InternalRow] = sparkContext.emptyRDD
  }
}
