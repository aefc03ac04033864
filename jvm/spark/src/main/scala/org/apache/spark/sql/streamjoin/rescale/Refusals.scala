package org.apache.spark.sql.streamjoin.rescale

import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinAnalysisException}

/** The refusals of a checkpoint, by their sub-class. */
private[rescale] final class Refusals(location: String) {

  def apply(subClass: String, parameters: (String, String)*): StreamJoinAnalysisException =
    StateErrors.rescale(subClass, location, parameters: _*)
}
