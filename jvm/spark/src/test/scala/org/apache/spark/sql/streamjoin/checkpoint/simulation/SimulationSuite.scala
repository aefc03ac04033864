package org.apache.spark.sql.streamjoin.checkpoint.simulation

import scala.util.Random

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.streamjoin.checkpoint.StateFormat
import org.apache.spark.sql.streamjoin.checkpoint.rocksdb.RocksDBFormat
import org.apache.spark.sql.streamjoin.checkpoint.segment.SegmentFormat
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.testing.RandomCases

/** Random histories of queries, executors and state files, with the state stores of the product. */
class SimulationSuite extends AnyFunSuite {
  import SimulationSuite._

  for ((format, count) <- Seq(SegmentFormat -> Histories, RocksDBFormat -> HistoriesOfRocksDB))
    test(s"${format.name}: no history loses a row, emits one twice, or needs a deleted file") {
      quietly(RandomCases.forAll(count) { random =>
        violated(random, format, Mutation.Nothing).foreach(fail(_))
      })
    }

  test("a history that runs again takes the same steps") {
    quietly(RandomCases.forAll(Replayed) { random =>
      val drawn = setup(random, SegmentFormat)
      val first = Simulation.draw(drawn, SegmentFormat, MostMoves, Mutation.Nothing)
      val again = Simulation.replay(drawn, SegmentFormat, first.moves, Mutation.Nothing)
      assert(withoutIds(again.story) == withoutIds(first.story))
    })
  }

  for (mutation <- Mutation.all)
    test(s"a broken promise is found: $mutation") {
      val failure = (1L to MostForMutation).iterator
        .flatMap(seed => violated(new Random(seed), SegmentFormat, mutation))
        .nextOption()
      assert(failure.nonEmpty)
      info(failure.get.linesIterator.next())
    }
}

private[simulation] object SimulationSuite {
  val Histories = 20000
  val HistoriesOfRocksDB = 20
  val Replayed = 200
  val MostForMutation = 2000L
  private val MostMoves = 150
  private val RetainsAll = 1000

  /** Without what Spark logs of failures that are meant. */
  def quietly(body: => Unit): Unit = {
    val name = classOf[StateStore].getPackageName
    Configurator.setLevel(name, Level.OFF)
    try body
    finally Configurator.setLevel(name, Level.ERROR)
  }

  /** Without the random IDs in errors. They decide nothing. */
  private def withoutIds(story: String): String =
    story.replaceAll(
      "//p[0-9]+/",
      "/"
    ).replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID")

  private def setup(random: Random, format: StateFormat): Setup = {
    val setup = Setup(
      random.nextLong(),
      ids = random.nextInt(3) == 0,
      retained = 1 + random.nextInt(2),
      deltas = 1 + random.nextInt(4),
      memory = Option.when(random.nextInt(20) == 0)(1),
      atomic = false,
      killedAtEnd = random.nextBoolean()
    )
    if (format == RocksDBFormat) withLimitsOfRocksDB(setup) else setup
  }

  /**
   * Spark's provider locks a store for a task or for maintenance. Of one version, it deletes the one
   * that a restart needs, if the next is written. With IDs, it deletes what is older than the
   * retained snapshot even if that snapshot is of an attempt that the commit log does not name, and
   * so the snapshot on which the committed version depends.
   */
  private def withLimitsOfRocksDB(setup: Setup): Setup =
    setup.copy(atomic = true, retained = if (setup.ids) RetainsAll else setup.retained + 1)

  /** The smallest form of a history that violates something. */
  def violated(random: Random, format: StateFormat, mutation: Mutation): Option[String] = {
    val drawn = setup(random, format)
    val count = 20 + random.nextInt(MostMoves)
    val outcome = Simulation.draw(drawn, format, count, mutation)
    outcome.violation.map { _ =>
      val (least, setup) = Simulation.shrink(outcome, drawn, format, mutation)
      s"${least.violation.get}\n$setup\n${least.moves.mkString("\n")}\n\n${least.story}"
    }
  }
}
