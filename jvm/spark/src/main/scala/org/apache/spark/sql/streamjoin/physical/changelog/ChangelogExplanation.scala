package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogJoin

import io.streamjoin.model.Side

/** What `explain` says of a changelog join, in words. */
private[changelog] object ChangelogExplanation {

  def lines(spec: ChangelogSpec, j: ChangelogJoin): Seq[String] =
    if (j.normalizes) normalizing(spec)
    else {
      val keys = spec.equiKeys.map { k =>
        s"${ColumnNames.sql(k.left)} ${if (k.nullSafe) "<=>" else "="} ${ColumnNames.sql(k.right)}"
      }
      val routing =
        if (keys.isEmpty) "no equality: all rows are in one partition"
        else keys.mkString("hash by ", ", ", "")
      val output = PlanChangelogJoin.outputKey(spec.joinType, spec.left, spec.right) match {
        case Some(key) if spec.outputKey.nonEmpty => s"output key: ${names(key)}"
        case Some(key) =>
          s"output key: none, for not all of ${names(key)} are asked for; changes come out as insert " +
            "and delete"
        case None => "output key: none is known; changes come out as insert and delete"
      }
      (routing +: Side.both.map(told(spec, _))) ++ Side.both.map(kept(spec, _)) :+ output
    }

  private def normalizing(spec: ChangelogSpec): Seq[String] = Seq(
    s"the last image of each key (${names(spec.left.key)}) is kept, for rows may change their join " +
      "key, or be filtered: each change gets the image that it replaces"
  )

  private def names(some: Seq[Attribute]): String = some.map(_.name).mkString(", ")

  private def told(spec: ChangelogSpec, side: Side): String = {
    val own = spec.side(side)
    val by =
      if (own.key.isEmpty) "all columns that are asked for, and counted"
      else if (own.oneAKey) s"key ${names(own.key)}, one row for each join key"
      else s"key ${names(own.key)}, several rows for each join key"
    s"rows of the ${side.name} input are told apart by $by" +
      own.sequence.fold("")(s => s"; of one key the largest ${s.name} counts")
  }

  private def kept(spec: ChangelogSpec, side: Side): String =
    spec.side(side).ttlMs match {
      case Some(ms) =>
        s"a row of the ${side.name} input is kept until it goes, or ${TimeUnit.Timestamp.words(ms * 1000L)} " +
          "after it was last written"
      case None => s"a row of the ${side.name} input is kept until it goes: without limit"
    }
}
