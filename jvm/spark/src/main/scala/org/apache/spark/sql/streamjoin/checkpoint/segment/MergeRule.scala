package org.apache.spark.sql.streamjoin.checkpoint.segment

/**
 * Which of the files of a state are to be written as one, so that a restart reads few of them and what
 * is written stays a small multiple of what has changed.
 *
 * {{{
 *   level      0: 1 version    1: 10 and more    2: 100 and more    ...      whole
 *   files      up to 9         up to 9           up to 9                     1
 * }}}
 *
 * Ten files of a level that follow each other become one of the next: what has changed is written once
 * more for each level, of which there are as many as versions since the last whole have digits. All
 * become a whole when what lies above the last whole is at least as large as it: of what was written
 * by then, that doubles it at most. So a restart reads at most as much again as there is, in nine
 * files a level.
 *
 * Source: log-structured merge trees, tiered; Spark's own snapshots by number, which write the whole
 * state every so many versions, whatever has changed.
 *
 * @param fewest changes that are worth a merge
 */
private[segment] final class MergeRule(fewest: Int) {
  import MergeRule._

  private val together = math.max(Together, fewest)

  /**
   * The files to be written as one, none if they are well as they are.
   *
   * @param files of one version, the newest first
   * @param bytes of each
   */
  def next(files: List[StateFile], bytes: StateFile => Long): List[StateFile] = {
    val (above, whole) = files.span(!_.isWhole) match {
      // the first change of all needs none before it, and is none to be spared
      case (some, List(first)) if first.span == 1 => (some :+ first, Nil)
      case split                                  => split
    }
    if (above.length < math.max(1, fewest)) Nil
    else if (above.map(bytes).sum >= whole.map(bytes).sum) files
    else {
      val levels = above.map(level).distinct.sorted
      levels.iterator
        .map(l => above.dropWhile(level(_) < l).takeWhile(level(_) <= l))
        .find(_.length >= together)
        .getOrElse(Nil)
    }
  }

  private def level(file: StateFile): Int =
    Iterator.iterate(file.span)(_ / together).takeWhile(_ >= together).length
}

private object MergeRule {
  private val Together = 10
}
