package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.logical.plan.analysis.InputSource

/**
 * The sources of the changed query, each with the source of the checkpoint from which it continues.
 *
 * {{{
 *   checkpoint                     changed query
 *   0  json /data/orders           0  json /data/orders     <- 0
 *   1  json /data/payments         1  kafka returns            new
 *                                  2  json /data/payments   <- 1
 * }}}
 *
 * @param before the sources of the checkpoint, in the order of its offsets
 * @param now the sources of the changed query, in its order
 * @param from for each of `now`, its index in `before`
 * @param byName whether Spark finds offsets by the names of sources
 */
private[evolve] final case class SourceMap(
    before: Seq[InputSource],
    now: Seq[InputSource],
    from: Seq[Option[Int]],
    byName: Boolean
) {
  import SourceMap._

  /** The place in the checkpoint of the source of a leaf of the changed query; -1: a new one. */
  def placeOf(leaf: Int): Int = from(leaf).getOrElse(New)

  /** The sources of the checkpoint that the query does not read any more. */
  def removed: Seq[InputSource] = before.indices.diff(from.flatten).map(before)

  /** The sources that the query reads from their beginning. */
  def fromBeginning: Seq[InputSource] =
    now.indices.filter(kept(_).isEmpty).map(now)

  /** The lines with the offsets of the sources in an entry of the offset log. */
  def offsets(lines: Seq[String]): Seq[String] = now.indices.map { i =>
    val offset = kept(i).fold(NoOffset)(offsetOf(_, lines))
    if (isMap(lines)) s"${id(now, i)}:$offset" else offset
  }

  /** The old and the new name of the log of each source that continues. */
  def logs: Seq[(String, String)] =
    now.indices.flatMap(i => kept(i).map(id(before, _) -> id(now, i)))

  /** The source whose offset a source continues from. Offsets are of one topic, table or folder. */
  private def kept(i: Int): Option[Int] =
    from(i).filter(old => before(old).locations.exists(now(i).locations.contains))

  private def offsetOf(old: Int, lines: Seq[String]): String =
    if (isMap(lines)) {
      val start = s"${id(before, old)}:"
      lines.find(_.startsWith(start)).fold(NoOffset)(_.stripPrefix(start))
    } else lines(old)

  private def id(of: Seq[InputSource], i: Int): String =
    if (byName) of(i).name.getOrElse(i.toString) else i.toString

  /** Whether each line has the ID of its source, as in format 2 of the log. */
  private def isMap(lines: Seq[String]): Boolean =
    lines.nonEmpty && lines.forall(_.matches("[\\w-]+:.*"))
}

private[evolve] object SourceMap {

  val New: Int = -1

  private val NoOffset = "-"

  /**
   * @param before the sources of each operator of the checkpoint, in their order
   * @param offsets the number of its offsets
   * @param now the sources of the changed query
   * @param renamed for a source of the changed query, that of the checkpoint; none: it is a new one
   */
  def of(
      before: Seq[Seq[InputSource]],
      offsets: Int,
      now: Seq[InputSource],
      renamed: Map[String, Option[String]],
      byName: Boolean
  )(refusal: (String, Seq[(String, String)]) => StreamJoinAnalysisException): SourceMap = {
    val found = ordered(before, offsets, now).getOrElse(
      throw refusal(
        "UNKNOWN_SOURCES",
        Seq("sources" -> offsets.toString, "known" -> shown(before.flatten.distinct))
      )
    )
    for ((name, old) <- renamed) {
      if (!now.exists(isCalled(_, name)))
        throw refusal("INVALID_ARGUMENT", Seq("what" -> s"sources: $name", "known" -> shown(now)))
      for (name <- old if !found.exists(isCalled(_, name)))
        throw refusal("INVALID_ARGUMENT", Seq("what" -> s"sources: $name", "known" -> shown(found)))
    }
    val from = now.zipWithIndex.map { case (source, i) =>
      val said = renamed.collectFirst { case (name, old) if isCalled(source, name) => old }
      def is(old: InputSource) = said match {
        case Some(name) => name.exists(isCalled(old, _))
        case None       => old.identities.exists(source.identities.contains)
      }
      // one that is read twice has two offsets
      val earlier = now.take(i).count(_.identities == source.identities)
      found.indices.filter(k => is(found(k))).lift(earlier)
    }
    val map = SourceMap(found, now, from, byName)
    val unsaid = now.indices.filter { i =>
      // one of the checkpoint that is read once more has no other name
      from(i).isEmpty && !found.exists(_.identities == now(i).identities) &&
      !renamed.exists { case (name, _) => isCalled(now(i), name) }
    }
    if (unsaid.nonEmpty && map.removed.nonEmpty) {
      throw refusal(
        "UNKNOWN_SOURCE",
        Seq("now" -> shown(unsaid.map(now)), "before" -> shown(map.removed))
      )
    }
    map
  }

  /**
   * The sources of the checkpoint in the order of its offsets. An operator above others has all
   * their sources. Sources beside all operators are in no description: then the order is known if
   * the changed query has the same sources.
   */
  private def ordered(
      operators: Seq[Seq[InputSource]],
      offsets: Int,
      now: Seq[InputSource]
  ): Option[Seq[InputSource]] = {
    val tops = operators.foldLeft(Seq.empty[Seq[InputSource]]) { (above, next) =>
      if (above.exists(_.containsSlice(next))) above else above :+ next
    }
    Seq(tops.flatten, tops.flatten.distinct).find(_.length == offsets).orElse(
      Option.when(now.length == offsets && tops.flatten.forall(now.contains))(now)
    )
  }

  /** Whether a source has this name or location, with its format or without. */
  private def isCalled(source: InputSource, name: String): Boolean =
    source.name.contains(name) ||
      source.locations.exists(at => at == name || at.endsWith(s" $name"))

  def shown(sources: Seq[InputSource]): String =
    sources.flatMap(_.identities).distinct.mkString(", ")
}
