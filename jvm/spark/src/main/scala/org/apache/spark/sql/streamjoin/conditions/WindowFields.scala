package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._

/**
 * Fields of windows in a condition, as times at a constant distance from the time of the window.
 * `w.end` is that time, and `w.start` is earlier by the length of the window.
 *
 * @param windows columns that are event times
 * @param lengths lengths of the windows. Session windows have no fixed length and are absent
 */
private[streamjoin] final class WindowFields(windows: AttributeSet, lengths: Map[ExprId, Long]) {

  /** A field: the window column, and the distance of the field from the window's end. */
  object Field {
    def unapply(e: Expression): Option[(Attribute, Long)] = e match {
      case GetStructField(w: Attribute, i, _)
          if windows.contains(w) && TimeUnit.isWindow(w.dataType) =>
        if (i == 1) Some((w, 0L)) else lengths.get(w.exprId).map(length => (w, -length))
      case _ => None
    }
  }
}

private[streamjoin] object WindowFields {

  val none: WindowFields = new WindowFields(AttributeSet.empty, Map.empty)
}
