package org.apache.spark.sql.streamjoin.physical.changelog

import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.stateful.{Explanation, StoredDescription}
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.model.Side

/**
 * The row identity that the checkpoint of a join uses. Earlier versions did not infer a key from a
 * join below: in their checkpoints, rows are identified by all columns.
 */
private[changelog] object CheckpointedKeys {

  private val counting = new PerOperator[Set[Side]]

  def apply(
      spec: ChangelogSpec,
      info: StatefulOperatorStateInfo,
      session: SparkSession
  ): ChangelogSpec = {
    val fromBelow = Side.both.filter(spec.side(_).key.inferred).toSet
    if (fromBelow.isEmpty) spec
    else {
      val sides = fromBelow & counting.planned(info, session) {
        // an unreadable description is reported where the whole of it is compared
        Try(StoredDescription.of(info, session).map(JoinDescription.read))
          .toOption.flatten.fold(Set.empty[Side])(DescribedChangelog.counting)
      }
      if (sides.isEmpty) spec
      else {
        val which = sides.map(_.name).toSeq.sorted.mkString(" and ")
        spec.counting(sides).copy(
          words = spec.words.copy(explanation =
            Explanation(
              spec.words.explanation.summary,
              spec.words.explanation.lines :+
                "its checkpoint was created without the key of the join below: rows of the " +
                s"$which input are identified by all columns, with a count"
            )
          )
        )
      }
    }
  }
}
