package org.apache.spark.sql.streamjoin.run

import java.util.UUID

import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo
import org.scalatest.funsuite.AnyFunSuite

class RunScopeSuite extends AnyFunSuite {

  private def info(run: UUID, operator: Long = 0): StatefulOperatorStateInfo =
    StatefulOperatorStateInfo("checkpoint", run, operator, 0, 1, None, None)

  test("each operator of a run has a separate value until the run ends") {
    val numbers = new PerOperator[Int]
    val (run, other) = (UUID.randomUUID, UUID.randomUUID)
    assert(numbers.of(info(run))(1) == 1)
    assert(numbers.of(info(run))(2) == 1)
    assert(numbers.of(info(run, operator = 1))(3) == 3)
    assert(numbers.of(info(other))(4) == 4)
    assert(new PerOperator[Int].of(info(run))(5) == 5)
    assert(numbers.ofRun(run) == Seq(3, 1))
    RunScope.ended(run)
    assert(numbers.ofRun(run).isEmpty && RunScope.find(run).isEmpty)
    assert(numbers.of(info(run))(6) == 6)
    assert(numbers.of(info(other))(7) == 4)
  }

  test("without an end of runs, at most 256 runs are kept and older ones are dropped") {
    val numbers = new PerOperator[Int]
    val first = UUID.randomUUID
    numbers.of(info(first))(1)
    for (n <- 1 to 1000) numbers.of(info(UUID.randomUUID))(n)
    assert(RunScope.runs <= 256)
    assert(numbers.of(info(first))(2) == 2)
  }
}
