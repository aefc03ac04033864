package org.apache.spark.sql.streamjoin.checkpoint.segment

/**
 * Decides which files of a state maintenance merges. A restart reads few files, and the bytes
 * written stay a small multiple of the changes.
 *
 * {{{
 *   file            change    range          range          range           whole
 *   versions        1         10             100            1000            all up to its end
 *   begins, ends    anywhere  at tens        at hundreds    at thousands    ends anywhere
 *   in one version  up to 18  up to 18       up to 18       1 per 1000      1
 * }}}
 *
 *  - Ten consecutive files become one range of ten times the length.
 *  - All files become a whole once those above the last whole have at least its size. Such a merge
 *    at most doubles the bytes written so far, and a restart reads about twice the state at most.
 *
 * Providers of two executors may merge and delete the files of one partition at the same time.
 * Ranges begin and end at multiples of their length. So two ranges are either disjoint, or one
 * contains the other. Only a whole may end inside a range. The files from which such a range
 * continues are kept as well, see [[besides]]:
 *
 * {{{
 *   here    writes "13, whole", and deletes what neither 13 nor later versions need
 *   there   has not listed "13, whole", and writes "20, from 10"
 *   then    a restart at 20 reads "20, from 10", and needs 10
 * }}}
 *
 * Source: tiered log-structured merge trees. Spark's own providers write a snapshot of the whole
 * state every few versions, however little has changed.
 *
 * @param fewest number of changes from which a merge pays off
 */
private[segment] final class MergeRule(fewest: Int) {
  import MergeRule._

  /**
   * The files to merge next; empty if none.
   *
   * @param files files of one version, the newest first
   * @param bytes size of a file
   */
  def next(files: List[StateFile], bytes: StateFile => Long): List[StateFile] = {
    val (above, whole) = files.span(!_.isWhole) match {
      // the file of version 1 needs none before it, but is merged like any other change
      case (some, List(first)) if first.span == 1 => (some :+ first, Nil)
      case split                                  => split
    }
    if (above.length < math.max(1, fewest)) Nil
    else if (above.map(bytes).sum >= whole.map(bytes).sum) files.dropWhile(_ != roundest(above))
    else Spans.reverseIterator.flatMap(ranges(above, _)).nextOption().getOrElse(Nil)
  }

  /** Runs of files that together form one range of a length. */
  private def ranges(files: List[StateFile], span: Long): Iterator[List[StateFile]] =
    for {
      end <- files.iterator if end.version % span == 0
      start = end.version - span
      some = files.dropWhile(_ != end).takeWhile(_.from >= start)
      if some.length > 1 && some.last.from == start
    } yield some
}

private[segment] object MergeRule {

  /** Lengths of ranges, in versions. */
  private val Spans = List(10L, 100L, 1000L)

  /**
   * The versions that must stay readable besides a whole: a range across its end may continue from
   * them.
   */
  def besides(whole: StateFile): List[Long] =
    Spans.map(span => whole.version - whole.version % span).filter(_ < whole.version).distinct

  /**
   * The best file to end a whole with: its version is a multiple of most lengths. [[besides]] then
   * has the fewest versions.
   */
  private def roundest(files: List[StateFile]): StateFile =
    files.maxBy(file => (Spans.count(file.version % _ == 0), file.version))
}
