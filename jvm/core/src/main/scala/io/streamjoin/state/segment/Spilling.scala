package io.streamjoin.state.segment

import java.io.File

/**
 * When rows of a state go to the local disk, and where.
 *
 * @param pool the states that share the memory
 * @param limit how many bytes they may hold together between two versions; what the next version
 *   brings comes on top
 * @param newFile gives a file to be used by nobody else
 */
final case class Spilling(pool: MemoryPool, limit: Long, newFile: () => File)

object Spilling {

  /** Everything stays in memory. */
  val Never: Spilling = Spilling(
    new MemoryPool,
    Long.MaxValue,
    () => throw new IllegalStateException("nothing is to go to the disk")
  )
}
