package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.scalatest.funsuite.AnyFunSuite

/** Providers of two executors that act within each other's steps: real files, and no threads. */
class InterleavedProvidersSuite extends AnyFunSuite {
  import SegmentStateStoreProviderSuite._
  import SteppedFiles._

  test("a task reads a version of which maintenance deletes files meanwhile") {
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
              // it has listed the change files
              if (opened == 3) {
                writer.doMaintenance()
                batches(10 to 16)
                writer.doMaintenance()
              }
            case _ =>
          }
        )
        assert(state.read(reader, 10) == (0L to 9L).toSet)
        // the third file, and then one that stands for all
        assert(opened == 4 && !state.names.exists(_.startsWith("8_")))
      }
    )
  }
}
