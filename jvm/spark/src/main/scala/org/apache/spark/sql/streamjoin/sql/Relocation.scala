package org.apache.spark.sql.streamjoin.sql

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.{Origin, SQLQueryContext, TreeNode}
import org.apache.spark.sql.streamjoin.spark.{OriginOfNode, ParsedText}

/** Moves positions in a parsed tree or error from an edited text to the original text. */
private[streamjoin] final class Relocation(edited: EditedText) {

  def of(e: ParseException): ParseException = {
    val place = for (line <- e.start.line; column <- e.start.startPosition)
      yield edited.toOriginal(Relocation.offset(edited.text, line, column))
    val start = place.fold(e.start)(p => Relocation.origin(edited.original, p, p))
    val context = e.getQueryContext.collect {
      case c: SQLQueryContext if c.sqlText.contains(edited.text) =>
        relocated(c.originStartIndex.getOrElse(0), c.originStopIndex.getOrElse(0)).context
      case other => other
    }
    val moved = ParsedText.error(
      edited.original,
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
    Relocation.origin(
      edited.original,
      edited.toOriginal(start),
      edited.toOriginal(stop, asEnd = true)
    )
}

private[streamjoin] object Relocation {

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
