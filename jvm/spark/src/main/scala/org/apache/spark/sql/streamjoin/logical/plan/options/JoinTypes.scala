package org.apache.spark.sql.streamjoin.logical.plan.options

import org.apache.spark.sql.catalyst.plans

import io.streamjoin.model.JoinType

/** Mapping between the join types of this project and those of Spark. */
private[streamjoin] object JoinTypes {

  private val types: Seq[(plans.JoinType, JoinType)] = Seq(
    plans.Inner -> JoinType.Inner,
    plans.LeftOuter -> JoinType.LeftOuter,
    plans.RightOuter -> JoinType.RightOuter,
    plans.FullOuter -> JoinType.FullOuter,
    plans.LeftSemi -> JoinType.LeftSemi,
    plans.LeftAnti -> JoinType.LeftAnti
  )

  /** The join type for one of Spark's; none: this project does not support it. */
  def of(t: plans.JoinType): Option[JoinType] =
    if (t == plans.Cross) Some(JoinType.Inner) else types.collectFirst { case (`t`, ours) => ours }

  /** Spark's join type. */
  def ofSpark(t: JoinType): plans.JoinType = types.collectFirst { case (sparks, `t`) => sparks }.get
}
