package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.execution.{LocalTableScanExec, SparkPlan}
import org.apache.spark.sql.test.SharedSparkSession

class StatefulBinaryExecSuite extends SparkFunSuite with SharedSparkSession {

  private class Both(left: SparkPlan, right: SparkPlan, batch: BatchInfo, val how: String)
      extends StatefulBinaryExec(left, right, batch) {

    override protected def planned(l: SparkPlan, r: SparkPlan, b: BatchInfo): Both =
      new Both(l, r, b, how)

    override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, right, batch, how)
  }

  private lazy val left = LocalTableScanExec(Nil, Nil, None)
  private lazy val right = LocalTableScanExec(Nil, Nil, None)
  private lazy val inner = new Both(left, right, BatchInfo(), "inner")

  test("operators are equal if all their arguments are equal") {
    val same = new Both(left, right, BatchInfo(), "inner")
    assert(inner == same && inner.hashCode == same.hashCode)
    assert(inner != new Both(left, right, BatchInfo(), "left"))
    assert(inner != new Both(left, right, BatchInfo(timeMs = Some(1)), "inner"))
    assert(inner != new Both(left, inner, BatchInfo(), "inner"))
  }

  test("a rule can change arguments of a subclass") {
    val changed = inner.transform { case b: Both => new Both(left, right, b.batch, "left") }
    assert(changed.asInstanceOf[Both].how == "left")
  }
}
