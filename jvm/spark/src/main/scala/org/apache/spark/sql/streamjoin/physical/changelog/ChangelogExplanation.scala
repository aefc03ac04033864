package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.analysis.AliasedColumn
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{Explanation, TimeWords}

import io.streamjoin.model.Side
import io.streamjoin.placement.Routing

/** Text of `explain` about a changelog join. */
private[changelog] object ChangelogExplanation {

  def of(spec: ChangelogSpec, j: ChangelogJoin): ChangelogWords =
    ChangelogWords(
      spec.words.aliases,
      Explanation(summary(spec, j), lines(spec, j)),
      forEver(spec, j)
    )

  private def lines(spec: ChangelogSpec, j: ChangelogJoin): Seq[String] =
    if (j.normalizes) normalizing(spec) ++ watermarks(j) ++ Seq(kept(spec, j, Side.Left))
    else {
      val output = j.outputKey match {
        case Some(key) if spec.output.key.nonEmpty => s"output key: ${names(key)}"
        case Some(key) =>
          s"output key: none, because the query does not use all of ${names(key)}; changes are " +
            "emitted as insert and delete"
        case None => "output key: none is known; changes are emitted as insert and delete"
      }
      val told =
        if (spec.appendOnly) Seq("both inputs are append-only: rows are joined as they arrive")
        else Side.both.map(toldApart(spec, j, _))
      (routing(spec, j) +: told) ++ watermarks(j) ++
        Side.both.map(kept(spec, j, _)) ++ expired(spec) ++ early(j) ++
        spec.output.rows.map(c => s"filter on the result: ${ColumnNames.sql(c)}") :+ output
    }

  /** The line of the node: routing and bounds, or the key of the stored latest versions. */
  private def summary(spec: ChangelogSpec, j: ChangelogJoin): String =
    if (j.normalizes)
      s"the latest version of each key (${names(spec.left.key.columns)}) of " +
        s"${aliases(j)(Side.Left)}"
    else {
      val bounds = if (j.leaving.exists) new TimeWords(j.analysis).bounds else Nil
      (routing(spec, j) +: bounds).mkString(", ")
    }

  /** The display names of the inputs. A join that stores latest versions has one input. */
  def aliases(j: ChangelogJoin): Map[Side, String] = {
    val words = new TimeWords(j.analysis)
    if (j.normalizes) Map(Side.Left -> words.alias(Side.Left).getOrElse(OfKeys))
    else Side.both.flatMap(side => words.alias(side).map(side -> _)).toMap
  }

  private val OfKeys = "the input"

  private def routing(spec: ChangelogSpec, j: ChangelogJoin): String = {
    def sql(e: Expression) = ColumnNames.sql(AliasedColumn.restored(e, j.aliased))
    val keys = spec.on.equiKeys.map { k =>
      s"${sql(k.left)} ${if (k.nullSafe) "<=>" else "="} ${sql(k.right)}"
    }
    spec.routing match {
      case _ if keys.nonEmpty => keys.mkString("hash by ", ", ", "")
      case Routing.Broadcast(unicast) =>
        s"no equality: ${unicast.name} rows spread over the partitions, " +
          s"${unicast.other.name} rows copied to each"
      case _ => "no equality: all rows are in one partition"
    }
  }

  /** The lines about rows that are stored without limit, for the log. */
  private def forEver(spec: ChangelogSpec, j: ChangelogJoin): Seq[String] =
    Side.both.filter { side =>
      spec.side(side).expiry.limitCount == 0 && !(j.normalizes && side == Side.Right)
    }.map(kept(spec, j, _))

  /** The lines about watermarks, bounds and late changes. */
  private def watermarks(j: ChangelogJoin): Seq[String] =
    if (j.times.isEmpty) Nil
    else {
      val times = new TimeWords(j.analysis)
      times.watermarks ++ j.analysis.bounds.conjuncts.zip(j.analysis.conditionBounds.found).map {
        case (bound, found) =>
          s"condition ${ColumnNames.sql(found.conjunct)}: bound ${times.bound(bound)}"
      } ++ Option.when(j.leaving.exists)(
        "a change of any kind is late, and ignored, if a time of its row is below its watermark"
      )
    }

  private def normalizing(spec: ChangelogSpec): Seq[String] = Seq(
    s"the latest version of each key (${names(spec.left.key.columns)}) is stored, because rows " +
      "may change their join key, or be filtered: each change gets its old image"
  )

  private def names(some: Seq[Attribute]): String = some.map(_.name).mkString(", ")

  private def toldApart(spec: ChangelogSpec, j: ChangelogJoin, side: Side): String = {
    val own = spec.side(side)
    val key = names(own.key.columns) + (if (own.key.inferred) " of the join below" else "")
    val by =
      if (own.key.columns.isEmpty) "all required columns, with a count"
      else if (own.key.oneAJoinKey) s"key $key, one row for each join key"
      else s"key $key, several rows for each join key"
    s"rows of ${new TimeWords(j.analysis).input(side)} are identified by $by" +
      own.key.sequence.fold("")(s => s"; of one key, the largest ${s.name} wins")
  }

  private def kept(spec: ChangelogSpec, j: ChangelogJoin, side: Side): String = {
    val own = spec.side(side)
    val times = new TimeWords(j.analysis)
    val leaves = own.expiry.leaves.map { c =>
      s"it can no longer change: ${times.name(c)} is below ${clock(j, times, c)}"
    }
    val ages = own.expiry.ttl.map(TimeUnit.Timestamp.words).map { limit =>
      own.expiry.ttlTime.fold(s"$limit after its last write") { c =>
        s"${times.behind(c, 0)} passes ${times.name(c)} + $limit"
      }
    }
    val input = if (j.normalizes) aliases(j)(side) else times.input(side)
    s"a row of $input is stored until it is deleted" + (leaves ++ ages match {
      case Nil  => ": without limit"
      case ends => ends.mkString(", or ", ", or ", "")
    })
  }

  private def expired(spec: ChangelogSpec): Seq[String] =
    if (Side.both.exists(spec.side(_).expiry.retracts))
      Seq("when a row expires, its results are retracted")
    else if (!Side.both.exists(spec.side(_).expiry.keepsResults)) Nil
    else if (Side.both.exists(spec.identifiedBy))
      Seq("when a row expires, its results stay until one of their rows is deleted")
    else
      Seq(
        "when a row expires, its results stay. The key of no input identifies them, so they also " +
          "stay if their other row is deleted. To retract them, set on_expiry=\"retract\""
      )

  /**
   * The lines about early results. A join emits them if watermarks evict the rows of both inputs:
   * its state then is that of an event-time join, which emits unmatched rows at their eviction.
   */
  private def early(j: ChangelogJoin): Seq[String] = {
    val times = new TimeWords(j.analysis)
    Side.both.filter(side =>
      j.joinType.preserves(side) && Side.both.forall(j.leaving.columns(_).nonEmpty)
    ).map(side =>
      s"early results: a row of ${times.input(side)} without a match is emitted in its batch, and " +
        "retracted by a match, until it is evicted"
    )
  }

  /** The clock of a time column: rows with an earlier time are evicted. */
  private def clock(j: ChangelogJoin, times: TimeWords, column: Int): String = {
    val bounds = j.analysis.bounds
    val others =
      if (j.normalizes) Nil
      else bounds.governing(column).map(b => times.behind(b, bounds.slack(column, b)))
    others match {
      case Nil      => times.behind(column, 0)
      case Seq(one) => s"${times.behind(column, 0)} and $one"
      case several  => s"${times.behind(column, 0)} and the largest of ${several.mkString(", ")}"
    }
  }
}
