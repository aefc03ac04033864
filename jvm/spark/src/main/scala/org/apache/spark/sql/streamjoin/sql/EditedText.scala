package org.apache.spark.sql.streamjoin.sql

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.{Origin, SQLQueryContext, TreeNode}
import org.apache.spark.sql.streamjoin.spark.{OriginOfNode, ParsedText}

/** Replaces the characters from `start` until `end`. */
private[streamjoin] final case class Edit(start: Int, end: Int, replacement: String)

/**
 * A text before and after edits. Moves positions in a parsed tree or error from the edited text to
 * the original text.
 *
 * @param edits non-overlapping edits, in the order of the text
 */
private[streamjoin] final class EditedText(original: String, edits: Seq[Edit]) {

  val text: String = {
    val out = new StringBuilder
    val end = edits.foldLeft(0) { (from, e) =>
      out ++= original.substring(from, e.start) ++= e.replacement
      e.end
    }
    out ++= original.substring(end)
    out.result()
  }

  def relocated(e: ParseException): ParseException = {
    val place = for (line <- e.start.line; column <- e.start.startPosition)
      yield toOriginal(EditedText.offset(text, line, column))
    val start = place.fold(e.start)(p => EditedText.origin(original, p, p))
    val context = e.getQueryContext.collect {
      case c: SQLQueryContext if c.sqlText.contains(text) =>
        relocated(c.originStartIndex.getOrElse(0), c.originStopIndex.getOrElse(0)).context
      case other => other
    }
    val moved = ParsedText.error(
      original,
      start,
      e.getCondition,
      e.getMessageParameters.asScala.toMap,
      context
    )
    moved.setStackTrace(e.getStackTrace)
    moved
  }

  /** Changes the origins of all nodes of a freshly parsed tree, including those in subqueries. */
  def relocate(tree: TreeNode[_]): Unit = if (OriginOfNode.canBeSet) {
    val seen = java.util.Collections.newSetFromMap(
      new java.util.IdentityHashMap[AnyRef, java.lang.Boolean]
    )
    def visit(any: Any): Unit = any match {
      case node: TreeNode[_] =>
        if (seen.add(node)) {
          OriginOfNode.set(node, moved(node.origin))
          node.productIterator.foreach(visit)
        }
      case i: Iterable[_] => i.foreach(visit)
      case p: Product     => p.productIterator.foreach(visit)
      case _              =>
    }
    visit(tree)
  }

  private def moved(o: Origin): Origin = (o.startIndex, o.stopIndex) match {
    case (Some(start), Some(stop)) =>
      // Spark substitutes parameters after these edits, so they are reverted before the edits
      def before(position: Int) = ParsedText.withoutParameters(o, position)
      ParsedText.moved(o, relocated(before(start), before(stop)))
    case _ => o
  }

  private def relocated(start: Int, stop: Int): Origin =
    EditedText.origin(original, toOriginal(start), toOriginal(stop, asEnd = true))

  /**
   * Maps a position in the edited text to the original. A position in inserted text maps to the
   * start of the edit or, as the last character of a range (`asEnd`), to its end.
   */
  private def toOriginal(place: Int, asEnd: Boolean = false): Int = {
    var moved = 0
    var found = Option.empty[Int]
    for (e <- edits if found.isEmpty) {
      val start = e.start + moved
      if (place < start) found = Some(place - moved)
      else if (place < start + e.replacement.length) {
        found = Some(if (asEnd) math.max(e.start, e.end - 1) else e.start)
      } else moved += e.replacement.length - (e.end - e.start)
    }
    math.max(0, math.min(found.getOrElse(place - moved), original.length))
  }
}

private[streamjoin] object EditedText {

  /** The origin of the characters from `start` to `stop`. */
  def origin(text: String, start: Int, stop: Int): Origin = {
    val before = text.substring(0, start.min(text.length))
    Origin(
      line = Some(before.count(_ == '\n') + 1),
      startPosition = Some(start - (before.lastIndexOf('\n') + 1)),
      startIndex = Some(start),
      stopIndex = Some(stop),
      sqlText = Some(text)
    )
  }

  private def offset(text: String, line: Int, column: Int): Int =
    text.linesWithSeparators.take(line - 1).map(_.length).sum + column
}
