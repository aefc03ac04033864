package io.streamjoin.state.segment.pages

import java.io.File

/**
 * When a state spills rows to the local disk, and where.
 *
 * @param pool the states that share the memory
 * @param limit the bytes they may have together between two versions; the rows of the next
 *   version are added to it
 * @param newFile makes a file that nothing else uses
 * @param most the most bytes there may be that cannot be spilled; a state refuses to exceed it
 *   before memory runs out
 * @param exceeded the error of a state that would exceed it, by the bytes
 * @param searchedFrom segments of at least this many rows are searched on the disk; smaller
 *   ones are recalled
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

  /** An index on the disk of fewer rows takes more memory than it saves. */
  val SearchedFrom: Int = 1 << 12

  /** Everything stays in memory. */
  val Never: Spilling = Spilling(
    new MemoryPool,
    Long.MaxValue,
    () => throw new IllegalStateException("nothing is to go to the disk")
  )
}
