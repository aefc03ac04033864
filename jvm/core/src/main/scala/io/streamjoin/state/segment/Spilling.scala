package io.streamjoin.state.segment

import java.io.File

/**
 * When rows of a state go to the local disk, and where.
 *
 * @param pool the states that share the memory
 * @param limit how many bytes they may hold together between two versions; what the next version
 *   brings comes on top
 * @param newFile gives a file to be used by nobody else
 * @param most how many bytes of what cannot go to the disk there may be; beyond it a state says so,
 *   before memory is gone
 * @param exceeded what it says then, of so many bytes
 * @param searchedFrom segments of so many rows or more are searched on the disk; smaller ones come back as a whole
 */
final case class Spilling(
    pool: MemoryPool,
    limit: Long,
    newFile: () => File,
    most: Long = Long.MaxValue,
    exceeded: Long => RuntimeException =
      bytes => new IllegalStateException(s"$bytes bytes are held"),
    searchedFrom: Int = Spilling.SearchedFrom
)

object Spilling {

  /** Of fewer rows an index on the disk would take more memory than it is worth. */
  val SearchedFrom: Int = 1 << 12

  /** Everything stays in memory. */
  val Never: Spilling = Spilling(
    new MemoryPool,
    Long.MaxValue,
    () => throw new IllegalStateException("nothing is to go to the disk")
  )
}
