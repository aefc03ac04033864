package org.apache.spark.sql.streamjoin.physical.changelog

import scala.util.Try

import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription

import io.streamjoin.model.Side

/**
 * The row identity that the checkpoint of a join uses. Earlier versions did not infer a key from a
 * join below: in their checkpoints, rows are identified by all columns.
 */
private[changelog] object CheckpointedKeys {

  /** @param begun the description with which the state began */
  def apply(spec: ChangelogSpec, begun: => String): ChangelogSpec = {
    val fromBelow = Side.both.filter(spec.side(_).key.inferred).toSet
    // an unreadable description is reported where the whole of it is compared
    def counting = Try(JoinDescription.read(begun)).toOption
      .fold(Set.empty[Side])(DescribedChangelog.counting)
    val sides = if (fromBelow.isEmpty) fromBelow else fromBelow & counting
    if (sides.isEmpty) spec
    else {
      val which = sides.map(_.name).toSeq.sorted.mkString(" and ")
      val explanation = spec.words.explanation
      val line = "its checkpoint was created without the key of the join below: rows of the " +
        s"$which input are identified by all columns, with a count"
      spec.counting(sides).copy(words =
        spec.words.copy(explanation = explanation.copy(lines = explanation.lines :+ line))
      )
    }
  }
}
