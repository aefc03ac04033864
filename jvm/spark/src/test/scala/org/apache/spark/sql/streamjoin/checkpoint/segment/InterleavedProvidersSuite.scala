package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.scalatest.funsuite.AnyFunSuite

/**
 * Providers of two executors that act between each other's steps, with real files and without
 * threads.
 */
class InterleavedProvidersSuite extends AnyFunSuite {
  import SegmentStateStoreProviderSuite._
  import SteppedFiles._

  /** A provider before whose next step of a kind others can act once. */
  private final class Executor(state: State) {
    private var next: PartialFunction[Step, Unit] = PartialFunction.empty

    val provider: SegmentStateStoreProvider =
      BegunProvider(state.id, state.conf(), settings(next.applyOrElse(_, (_: Step) => ())))

    def batch(version: Long, rows: Long*): Unit = {
      state.batch(provider, version)(add(_, rows: _*))
      ()
    }

    /** Others act before the first step of a kind; afterwards if there is none. */
    def maintain(at: PartialFunction[Step, Unit])(others: => Unit): Unit = {
      var acted = false
      next = {
        case step if !acted && at.isDefinedAt(step) =>
          acted = true
          others
      }
      provider.doMaintenance()
      next = PartialFunction.empty
      if (!acted) others
    }
  }

  private val write: PartialFunction[Step, Unit] = { case Writes(_) => }

  private def newest(state: State, version: Long): Set[Long] = state.read(state.provider(), version)

  test("a file that one provider writes late does not depend on files that the other deleted") {
    inFolder(
      Nil,
      state => {
        val (here, there) = (new Executor(state), new Executor(state))
        val large = 1L to 2000L
        here.batch(0, large: _*)
        for (n <- 1L to 4L) here.batch(n, 2000 + n)
        here.provider.doMaintenance()
        for (n <- 5L to 14L) here.batch(n, 2000 + n)
        // both merge the changes that they know; one of them knows one more
        here.maintain(write)(there.batch(15, 2015))
        there.maintain(write)(for (n <- 16L to 24L) here.batch(n, 2000 + n))
        // this merge depends on its own file, which the other provider deletes
        here.maintain(write) {
          assert(state.read(there.provider, 25) == (1L to 2024L).toSet)
          there.provider.doMaintenance()
        }
        assert(newest(state, 25) == (1L to 2024L).toSet)
        assert(newest(state, 24) == (1L to 2023L).toSet)
      }
    )
  }

  test("a task reads a version while maintenance deletes its files") {
    inFolder(
      Nil,
      state => {
        val writer = state.provider()
        def batches(versions: Range): Unit =
          for (n <- versions) state.batch(writer, n.toLong)(add(_, n.toLong))
        batches(0 to 9)
        var opened = 0
        lazy val reader: SegmentStateStoreProvider = BegunProvider(
          state.id,
          state.conf(),
          settings {
            case Opens(_) =>
              opened += 1
              // the reader has listed the change files
              if (opened == 3) {
                writer.doMaintenance()
                batches(10 to 16)
                writer.doMaintenance()
              }
            case _ =>
          }
        )
        assert(state.read(reader, 10) == (0L to 9L).toSet)
        // the third file, and then the merged file
        assert(opened == 4 && !state.names.exists(_.startsWith("8_")))
      }
    )
  }
}
