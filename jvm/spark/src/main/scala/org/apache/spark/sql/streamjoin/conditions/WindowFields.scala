package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions._

/**
 * The fields of windows in a condition, as times at a constant distance from the time that the window
 * counts as: `w.end` is that time, and `w.start` lies a window's length before it.
 *
 * @param windows the columns that are event times
 * @param lengths of the windows that have all one length, as those of sessions have not
 */
private[streamjoin] final class WindowFields(windows: AttributeSet, lengths: Map[ExprId, Long]) {

  /** A field: the window, and how far it is from its end. */
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
