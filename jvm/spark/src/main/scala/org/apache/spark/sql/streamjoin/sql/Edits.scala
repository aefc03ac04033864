package org.apache.spark.sql.streamjoin.sql

/** Replaces the characters from `start` until `end`. */
private[streamjoin] final case class Edit(start: Int, end: Int, replacement: String)

/**
 * A text before and after edits, with a mapping of positions.
 *
 * @param edits non-overlapping edits, in the order of the text
 */
private[streamjoin] final class EditedText(val original: String, edits: Seq[Edit]) {

  val text: String = {
    val out = new StringBuilder
    val end = edits.foldLeft(0) { (from, e) =>
      out ++= original.substring(from, e.start) ++= e.replacement
      e.end
    }
    out ++= original.substring(end)
    out.result()
  }

  /**
   * Maps a position in the edited text to the original. A position in inserted text maps to the
   * start of the edit or, as the last character of a range (`asEnd`), to its end.
   */
  def toOriginal(place: Int, asEnd: Boolean = false): Int = {
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
