package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans

import io.streamjoin.model.JoinType

/** The join types of this project under Spark's names. */
private[streamjoin] object JoinTypes {

  private val types: Seq[(plans.JoinType, JoinType)] = Seq(
    plans.Inner -> JoinType.Inner,
    plans.LeftOuter -> JoinType.LeftOuter,
    plans.RightOuter -> JoinType.RightOuter,
    plans.FullOuter -> JoinType.FullOuter,
    plans.LeftSemi -> JoinType.LeftSemi,
    plans.LeftAnti -> JoinType.LeftAnti
  )

  /** The type of a join of Spark's; none: this project has no such join. */
  def of(t: plans.JoinType): Option[JoinType] =
    if (t == plans.Cross) Some(JoinType.Inner) else types.collectFirst { case (`t`, ours) => ours }

  /** The type as Spark names it. */
  def ofSpark(t: JoinType): plans.JoinType = types.collectFirst { case (sparks, `t`) => sparks }.get
}
