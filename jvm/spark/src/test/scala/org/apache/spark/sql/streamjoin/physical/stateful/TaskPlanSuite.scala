package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.streamjoin.run.RunScope
import org.apache.spark.sql.test.SharedSparkSession
import org.apache.spark.{SparkException, SparkFunSuite}

/** How often a task plan is initialized, and which task gets it. */
class TaskPlanSuite extends SparkFunSuite with SharedSparkSession {
  import TaskPlanSuite._

  private def info(run: UUID): StatefulOperatorStateInfo =
    StatefulOperatorStateInfo("checkpoint", run, 0, 0, 1, None, None)

  /** Runs a batch. Returns the numbers of the initialized plans that its task got. */
  private def batch(run: UUID, word: String, asks: Int = 1, fails: Boolean = false): Seq[Int] = {
    val program = TaskPlanHandle.of(info(run), spark.sparkContext, Word(word))
    spark.sparkContext
      .parallelize(Seq(1), 1)
      .map { _ =>
        val got = Seq.fill(asks)(program.forTask())
        if (fails) throw new IllegalStateException("on purpose")
        assert(got.forall(_.word == word))
        got.map(_.number)
      }
      .collect()
      .head
  }

  test("an unchanged task plan is initialized once, a changed one again") {
    val run = UUID.randomUUID
    val first = batch(run, "a")
    assert(batch(run, "a") == first && batch(run, "a") == first)
    val changed = batch(run, "b")
    assert(changed != first && batch(run, "b") == changed)
    assert(!Seq(first, changed).contains(batch(run, "a")))
  }

  test("another run has a separate task plan") {
    val run = UUID.randomUUID
    assert(batch(run, "a") != batch(UUID.randomUUID, "a"))
  }

  test("two requests in a task get two plans, which the next task reuses") {
    val run = UUID.randomUUID
    val two = batch(run, "a", asks = 2)
    assert(two.distinct.length == 2 && batch(run, "a", asks = 2).toSet == two.toSet)
  }

  test("the plan of a failed task is not reused") {
    val run = UUID.randomUUID
    val first = batch(run, "a")
    intercept[SparkException](batch(run, "a", fails = true))
    assert(batch(run, "a") != first)
  }

  test("a task that ends after its run leaves no run scope") {
    val run = UUID.randomUUID
    val program = TaskPlanHandle.of(info(run), spark.sparkContext, Word("a"))
    spark.sparkContext.parallelize(Seq(1), 1).foreach { _ =>
      program.forTask()
      RunScope.ended(run)
    }
    assert(RunScope.find(run).isEmpty)
  }

  test("an idle plan has released the rows of its task") {
    val run = UUID.randomUUID
    val before = forgotten.get
    batch(run, "a", asks = 2)
    assert(forgotten.get == before + 2)
  }
}

private object TaskPlanSuite {
  private val made = new AtomicInteger
  private val forgotten = new AtomicInteger

  private final case class Word(word: String) extends TaskPlan[ReadyWord] {
    override def ready(): ReadyWord = new ReadyWord(word, made.incrementAndGet())
  }

  private final class ReadyWord(val word: String, val number: Int) extends TaskPlan.Ready {
    override def forget(): Unit = { forgotten.incrementAndGet(); () }
  }
}
