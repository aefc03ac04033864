package org.apache.spark.sql.streamjoin.checkpoint.segment

/**
 * Decides which files of a state maintenance writes as one, so that a restart reads few of them and
 * what is written stays a small multiple of what has changed.
 *
 * {{{
 *   file            change    range          range          range           whole
 *   versions        1         10             100            1000            all up to its end
 *   begins, ends    anywhere  at tens        at hundreds    at thousands    ends anywhere
 *   in one version  up to 18  up to 18       up to 18       1 per 1000      1
 * }}}
 *
 * Ten files that follow each other become one that is ten times as long. All become a whole when
 * what lies above the last whole is at least as large as it: of what was written by then, that
 * doubles it at most. So a restart reads at most as much again as there is.
 *
 * Providers of two executors may merge and delete the files of one partition at once. Because of
 * where ranges begin and end, two of them have no version in common, or one contains the other. Only
 * a whole may end inside a range. What the range continues is then kept as well, see [[besides]]:
 *
 * {{{
 *   here    writes "13, whole", and deletes what neither 13 nor later versions need
 *   there   has not listed "13, whole", and writes "20, from 10"
 *   then    a restart at 20 reads "20, from 10", and needs 10
 * }}}
 *
 * Source: log-structured merge trees, tiered; Spark's own snapshots by number, which write the whole
 * state every so many versions, whatever has changed.
 *
 * @param fewest changes that are worth a merge
 */
private[segment] final class MergeRule(fewest: Int) {
  import MergeRule._

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
    else if (above.map(bytes).sum >= whole.map(bytes).sum) files.dropWhile(_ != roundest(above))
    else Spans.reverseIterator.flatMap(ranges(above, _)).nextOption().getOrElse(Nil)
  }

  /** Files that come to one range of a span. */
  private def ranges(files: List[StateFile], span: Long): Iterator[List[StateFile]] =
    for {
      end <- files.iterator if end.version % span == 0
      start = end.version - span
      some = files.dropWhile(_ != end).takeWhile(_.from >= start)
      if some.length > 1 && some.last.from == start
    } yield some
}

private[segment] object MergeRule {

  /** How many versions a range stands for. */
  private val Spans = List(10L, 100L, 1000L)

  /**
   * The versions that must stay readable besides a whole: those from which a range that spans its end may continue.
   */
  def besides(whole: StateFile): List[Long] =
    Spans.map(span => whole.version - whole.version % span).filter(_ < whole.version).distinct

  /** The file at whose end a whole makes [[besides]] name no more than the ends of earlier wholes. */
  private def roundest(files: List[StateFile]): StateFile =
    files.maxBy(file => (Spans.count(file.version % _ == 0), file.version))
}
