package io.streamjoin.join.changelog

import io.streamjoin.model.JoinType
import io.streamjoin.model.JoinType._

import Layout.{NoKey, OneAKey, UniqueKey}

/**
 * A case of Flink's harness tests of its operators, rewritten.
 *
 * {{{
 *   at 3000                  the clock
 *   L +U 1 2 b               a change of the left: order, line (the join key), other columns
 *   R -D 2 SHIP              one of the right, here without an order
 *   = +I 1 2 b | 2 SHIP      Flink's output for the lines above; ours has the same sum
 *   F!-D 1 2 b | 2 SHIP      only Flink emits this
 *   O!-D 1 2 b | -           only this join emits this
 *   S!+I 1 2 b | 2 SHIP      only emitted if each change is a separate batch
 * }}}
 *
 * The inputs of a chain are U, O, P and S, and an output row has a row of each.
 *
 * @param layout the layout of the second input, and of the first one unless `first` is given
 * @param more further joins of the result with inputs of these layouts
 * @param by the input whose key is the key of the result
 * @param condition the last join's condition on the other columns of the first and the last input
 * @param mini the size of Flink's mini-batch
 * @param ttl the TTL of each side
 * @param differs why the output differs from Flink's
 */
private[changelog] final case class FlinkCase(
    name: String,
    joinType: JoinType,
    layout: Layout,
    text: String,
    mini: Int = 1,
    ttl: Option[(Long, Long)] = None,
    differs: String = "",
    first: Option[Layout] = None,
    more: Seq[(JoinType, Layout)] = Nil,
    by: Int = 0,
    condition: Option[(Long, Long) => Boolean] = None
) {
  val layouts: Seq[Layout] = first.getOrElse(layout) +: layout +: more.map(_._2)
  val joins: Seq[JoinType] = joinType +: more.map(_._1)
}

private[changelog] object FlinkOperatorCases {

  private val outlived = "the replaced row had a partner that has expired: its result is deleted"

  private val replaced = "a bare update replaces the row; Flink counts it as another partner"
  private val unordered = "the order within a batch has no effect"

  /** `StreamingJoinOperatorTest`: both inputs have a key, which is the join key. */
  val streaming: Seq[FlinkCase] = Seq(
    FlinkCase(
      "InnerJoinWithDifferentStateRetentionTime",
      Inner,
      OneAKey,
      """at 1
        |L +I 1 1 a
        |L +I 1 2 a
        |=
        |R +I 2 AIR
        |= +I 1 2 a | 2 AIR
        |at 3000
        |L +U 1 2 b
        |O! -D 1 2 a | -
        |R +U 2 SHIP
        |= +U 1 2 b | 2 SHIP
        |at 4001
        |R +I 1 TRUCK
        |=
        |R -D 2 SHIP
        |= -D 1 2 b | 2 SHIP
        |at 7000
        |R +I 2 RAIL
        |=""",
      ttl = Some((4000, 1000)),
      differs = outlived
    ),
    FlinkCase(
      "InnerJoinWithStateRetentionDisabled",
      Inner,
      OneAKey,
      """L +I 1 1 a
        |L +I 1 2 a
        |=
        |R +I 2 AIR
        |= +I 1 2 a | 2 AIR
        |L +U 1 2 b
        |= +U 1 2 b | 2 AIR
        |R +U 2 SHIP
        |= +U 1 2 b | 2 SHIP
        |R +I 1 TRUCK
        |= +I 1 1 a | 1 TRUCK
        |R -D 2 SHIP
        |= -D 1 2 b | 2 SHIP
        |R +I 2 RAIL
        |= +I 1 2 b | 2 RAIL"""
    ),
    FlinkCase(
      "InnerJoinWithSameStateRetentionTime",
      Inner,
      OneAKey,
      """at 1
        |L +I 1 1 a
        |L +I 1 2 a
        |=
        |R +I 2 AIR
        |= +I 1 2 a | 2 AIR
        |at 4000
        |L +U 1 2 b
        |= +U 1 2 b | 2 AIR
        |at 4001
        |R +I 1 TRUCK
        |=
        |at 7999
        |R +U 2 TRUCK
        |= +U 1 2 b | 2 TRUCK
        |at 8000
        |R +U 2 RAIL
        |O! -D - | 2 TRUCK""",
      ttl = Some((4000, 4000)),
      differs = outlived
    ),
    FlinkCase(
      "LeftOuterJoinWithDifferentStateRetentionTime",
      LeftOuter,
      OneAKey,
      """at 1
        |L +I 1 1 a
        |= +I 1 1 a | -
        |L +I 1 2 a
        |= +I 1 2 a | -
        |R +I 2 AIR
        |= -D 1 2 a | -
        |= +I 1 2 a | 2 AIR
        |at 3000
        |L +U 1 2 b
        |= +I 1 2 b | -
        |R +U 2 SHIP
        |= -D 1 2 b | -
        |= +I 1 2 b | 2 SHIP
        |at 4001
        |R +I 1 TRUCK
        |=
        |R -D 2 SHIP
        |= -D 1 2 b | 2 SHIP
        |= +I 1 2 b | -
        |at 8001
        |R +I 2 RAIL
        |=""",
      ttl = Some((4000, 1000))
    ),
    FlinkCase(
      "LeftOuterJoinWithStateRetentionDisabled",
      LeftOuter,
      OneAKey,
      """L +I 1 1 a
        |= +I 1 1 a | -
        |L +I 1 2 a
        |= +I 1 2 a | -
        |R +I 2 AIR
        |= -D 1 2 a | -
        |= +I 1 2 a | 2 AIR
        |L +U 1 2 b
        |= +I 1 2 b | 2 AIR
        |R +U 2 SHIP
        |= +I 1 2 b | 2 SHIP
        |R +I 1 TRUCK
        |= -D 1 1 a | -
        |= +I 1 1 a | 1 TRUCK
        |R -D 2 SHIP
        |= -D 1 2 b | 2 SHIP
        |= +I 1 2 b | -"""
    ),
    FlinkCase(
      "RightOuterJoinWithDifferentStateRetentionTime",
      RightOuter,
      OneAKey,
      """at 1
        |L +I 1 1 a
        |L +I 1 2 a
        |=
        |at 4001
        |R +I 2 AIR
        |= +I - | 2 AIR
        |R +I 1 TRUCK
        |= +I - | 1 TRUCK
        |at 5001
        |L +U 1 2 b
        |=
        |R +U 2 SHIP
        |= +I 1 2 b | 2 SHIP
        |R +U 1 RAIL
        |= +I - | 1 RAIL
        |at 6000
        |L +U 1 1 c
        |= -D - | 1 RAIL
        |= +I 1 1 c | 1 RAIL
        |at 7000
        |L -D 1 1 c
        |=""",
      ttl = Some((4000, 1000))
    ),
    FlinkCase(
      "RightOuterJoinWithDStateRetentionDisabled",
      RightOuter,
      OneAKey,
      """L +I 1 1 a
        |L +I 1 2 a
        |=
        |R +I 2 AIR
        |= +I 1 2 a | 2 AIR
        |R +I 1 TRUCK
        |= +I 1 1 a | 1 TRUCK
        |L +U 1 2 b
        |= +I 1 2 b | 2 AIR"""
    ),
    FlinkCase(
      "LeftOuterJoinInnerSideUpdateAfterThenDeleteRestoresNullPadding",
      LeftOuter,
      OneAKey,
      """L +I 1 1 a
        |= +I 1 1 a | -
        |R +I 1 AIR
        |= -D 1 1 a | -
        |= +I 1 1 a | 1 AIR
        |R +U 1 SHIP
        |= +I 1 1 a | 1 SHIP
        |R -D 1 SHIP
        |= -D 1 1 a | 1 SHIP
        |= +I 1 1 a | -"""
    ),
    FlinkCase(
      "LeftOuterJoinInnerSideDuplicateInsertThenDeleteRestoresNullPadding",
      LeftOuter,
      OneAKey,
      """L +I 1 1 a
        |= +I 1 1 a | -
        |R +I 1 AIR
        |= -D 1 1 a | -
        |= +I 1 1 a | 1 AIR
        |R +I 1 AIR
        |= +I 1 1 a | 1 AIR
        |R -D 1 AIR
        |= -D 1 1 a | 1 AIR
        |= +I 1 1 a | -"""
    ),
    FlinkCase(
      "RightOuterJoinInnerSideUpdateAfterThenDeleteRestoresNullPadding",
      RightOuter,
      OneAKey,
      """R +I 1 AIR
        |= +I - | 1 AIR
        |L +I 1 1 a
        |= -D - | 1 AIR
        |= +I 1 1 a | 1 AIR
        |L +U 1 1 b
        |= +I 1 1 b | 1 AIR
        |L -D 1 1 b
        |= -D 1 1 b | 1 AIR
        |= +I - | 1 AIR"""
    ),
    FlinkCase(
      "FullOuterJoinRightSideUpdateAfterThenDeleteRestoresNullPadding",
      FullOuter,
      OneAKey,
      """L +I 1 1 a
        |= +I 1 1 a | -
        |R +I 1 AIR
        |= -D 1 1 a | -
        |= +I 1 1 a | 1 AIR
        |R +U 1 SHIP
        |= +I 1 1 a | 1 SHIP
        |R -D 1 SHIP
        |= -D 1 1 a | 1 SHIP
        |= +I 1 1 a | -"""
    ),
    FlinkCase(
      "FullOuterJoinLeftSideUpdateAfterThenDeleteRestoresNullPadding",
      FullOuter,
      OneAKey,
      """R +I 1 AIR
        |= +I - | 1 AIR
        |L +I 1 1 a
        |= -D - | 1 AIR
        |= +I 1 1 a | 1 AIR
        |L +U 1 1 b
        |= +I 1 1 b | 1 AIR
        |L -D 1 1 b
        |= -D 1 1 b | 1 AIR
        |= +I - | 1 AIR"""
    )
  )

  /** `StreamingSemiAntiJoinOperatorTest`. */
  val semiAnti: Seq[FlinkCase] = Seq(
    FlinkCase(
      "LeftSemiJoinWithDifferentStateRetentionTime",
      LeftSemi,
      OneAKey,
      """at 1
        |L +I 1 1 a
        |L +I 1 2 a
        |=
        |at 3001
        |R +I 2 AIR
        |= +I 1 2 a
        |R +U 2 TRUCK
        |=
        |R -D 2 TRUCK
        |O!-D 1 2 a
        |R -D 2 AIR
        |F!-D 1 2 a
        |at 4001
        |R +I 1 SHIP
        |=
        |at 5001
        |L +U 1 1 b
        |=""",
      ttl = Some((4000, 1000)),
      differs = replaced
    ),
    FlinkCase(
      "LeftSemiJoinWithStateRetentionDisabled",
      LeftSemi,
      OneAKey,
      """L +I 1 1 a
        |L +I 1 2 a
        |=
        |R +I 2 AIR
        |= +I 1 2 a
        |R +U 2 TRUCK
        |=
        |R -D 2 TRUCK
        |O!-D 1 2 a
        |R -D 2 AIR
        |F!-D 1 2 a
        |R +I 1 SHIP
        |= +I 1 1 a
        |L +U 1 1 b
        |= +U 1 1 b""",
      differs = replaced
    ),
    FlinkCase(
      "LeftAntiJoinWithDifferentStateRetentionTime",
      LeftAnti,
      OneAKey,
      """at 1
        |L +I 1 1 a
        |= +I 1 1 a
        |L +I 1 2 a
        |= +I 1 2 a
        |at 3001
        |R +I 2 AIR
        |= -D 1 2 a
        |at 4001
        |R +I 1 RAIL
        |=
        |at 5001
        |L +U 1 1 b
        |= +U 1 1 b""",
      ttl = Some((4000, 1000))
    ),
    FlinkCase(
      "LeftAntiJoinWithStateRetentionTimeDisabled",
      LeftAnti,
      OneAKey,
      """L +I 1 1 a
        |= +I 1 1 a
        |L +I 1 2 a
        |= +I 1 2 a
        |R +I 2 AIR
        |= -D 1 2 a
        |R +I 1 RAIL
        |= -D 1 1 a
        |L +U 1 1 b
        |="""
    )
  )

  private val leftFirst =
    """L +I 1 2 a
      |L +I i 6 i
      |R +I X 2 AIR
      |= +I i 6 i | -
      |= +I 1 2 a | X 2 AIR"""

  private val rightFirst =
    """R +I X 2 AIR
      |L +I 1 2 a
      |L +I i 6 i
      |= +I 1 2 a | X 2 AIR"""

  private val leftWithUpdate =
    """L +I 2 2 a
      |=
      |R +I 2 2 SHIP
      |R -U 2 2 SHIP
      |R +U 2 2 AIR
      |= +I 2 2 a | 2 2 SHIP
      |= -U 2 2 a | 2 2 SHIP
      |= +I 2 2 a | 2 2 AIR"""

  private val leftWithoutRetract =
    """L +I 2 2 a
      |L +U 2 2 b
      |= +I 2 2 b | -
      |R +U 2 2 SHIP
      |R +U 2 2 AIR
      |= -D 2 2 b | -
      |= +I 2 2 b | 2 2 AIR"""

  private val leftWithoutAcc =
    """L -U 2 2 a
      |L -D 2 2 b
      |= -D 2 2 b | -
      |R -D 2 2 SHIP
      |R -U 2 2 AIR
      |="""

  private val leftWithUpdates =
    """L +I 2 2 a
      |L +U 5 5 d
      |L +I 0 4 b
      |L +U 4 0 c
      |= +I 4 0 c | -
      |= +I 0 4 b | -
      |= +I 5 5 d | -
      |= +I 2 2 a | -
      |R +I 6 4 AIR
      |R +U 6 4 AIR
      |R +U 6 5 AIR
      |R +U 6 4 TRUCK
      |= -D 0 4 b | -
      |= +I 0 4 b | 6 4 TRUCK
      |= -D 5 5 d | -
      |= +I 5 5 d | 6 5 AIR
      |R -D 6 4 TRUCK
      |R +I 6 4 TRUCK2
      |R -D 6 4 TRUCK3
      |R +I 6 4 AIR
      |= -D 0 4 b | 6 4 TRUCK
      |= +I 0 4 b | 6 4 AIR
      |R +I 5 2 SHIP
      |R +U 5 2 TRUCK
      |R -U 5 2 SHIP
      |R +U 9 7 TRUCK
      |="""

  private val sixOfTheRight =
    """R +I 5 2 SHIP
      |R +U 6 4 AIR
      |R -U 5 2 SHIP
      |R +U 5 2 TRUCK
      |R +U 7 0 AIR
      |R +U 8 11 AIR"""

  /**
   * `StreamingMiniBatchJoinOperatorTest`: without a key, with the key of the order, or with that of
   * the line.
   */
  val miniBatch: Seq[FlinkCase] = Seq(
    FlinkCase("LeftJoinWithLeftArriveFirst", LeftOuter, NoKey, leftFirst, mini = 3),
    FlinkCase("LeftJoinWithLeftArriveFirstNoMiniBatch", LeftOuter, NoKey, leftFirst),
    FlinkCase("RightJoinWithRightArriveFirst", RightOuter, NoKey, rightFirst, mini = 3),
    FlinkCase("RightJoinWithRightArriveFirstWithNoMiniBatch", RightOuter, NoKey, rightFirst),
    FlinkCase(
      "FullJoinWithRightArriveFirst",
      FullOuter,
      NoKey,
      s"$rightFirst\n= +I i 6 i | -",
      mini = 3
    ),
    FlinkCase(
      "FullJoinWithRightArriveFirstWithNoMiniBatch",
      FullOuter,
      NoKey,
      s"$rightFirst\n= +I i 6 i | -"
    ),
    FlinkCase(
      "InnerJoinJoinKeyContainsUniqueKeyWithoutFold",
      Inner,
      OneAKey,
      """L +I 1 1 a
        |L +I 1 2 b
        |R +I Y 1 TRUCK
        |=
        |R +I X 2 AIR
        |= +I 1 1 a | Y 1 TRUCK
        |= +I 1 2 b | X 2 AIR""",
      mini = 4
    ),
    FlinkCase(
      "InnerJoinWithJoinKeyContainsUniqueKeyWithinBatch",
      Inner,
      OneAKey,
      """L +I 1 1 a
        |L +U 2 1 b
        |R +I X 7 RAILWAY
        |L +U 5 5 e
        |L +U x5 5 xa
        |L +I i 6 i
        |R -D X 7 RAILWAY
        |L +U 3 x3 xc
        |L -D 3 x3 yj
        |R +U X 7 AIR
        |L +I 4 4 d
        |=
        |R -U X 7 AIR
        |R +I X 2 AIR
        |R -U X 2 AIR
        |R +I X 1 AIR
        |R -U Y 5 TRUCK
        |R +I Y 6 RAILWAY
        |R -U Z 4 RAILWAY
        |= +I i 6 i | Y 6 RAILWAY
        |= +U 2 1 b | X 1 AIR""",
      mini = 18
    ),
    FlinkCase(
      "InnerJoinWithJoinKeyContainsUniqueKeyCrossBatches",
      Inner,
      OneAKey,
      """L +I 1 1 a
        |L +I 1 1 a
        |R +I Y 4 TRUCK
        |L +I 4 4 d
        |L +I 5 5 e
        |L -U 5 5 e
        |L -U 9 9 i
        |=
        |R +I X 9 AIR
        |R +U xyz 1 SHIP
        |R -D Y 4 TRUCK
        |= -U 9 9 i | X 9 AIR
        |= +I 1 1 a | xyz 1 SHIP
        |L +U adjust 4 j
        |L +U 18 9 k
        |R -D X x3 AIR
        |R -U xyz 1 SHIP
        |R +I Y 4 TRUCK
        |L +U 14 4 l
        |L -D 3 x3 xc
        |L +I 3 x3 xc
        |L +I 10 100y yj
        |=
        |R +U 101 x3 AIR
        |= +I 4 4 d | Y 4 TRUCK
        |= -U 1 1 a | xyz 1 SHIP
        |= -D 3 x3 xc | 101 x3 AIR
        |= +I 3 x3 xc | 101 x3 AIR
        |= +U 18 9 k | X 9 AIR
        |= +U 14 4 l | Y 4 TRUCK""",
      mini = 10
    ),
    FlinkCase(
      "InnerJoinWithHasUniqueKeyWithinBatch",
      Inner,
      UniqueKey,
      """L +I 1 1 a
        |L +I 2 2 b
        |L +I 3 10 c
        |L +U 3 10 xxx
        |L +U 5 5 e
        |L +I 6 5 f
        |L -U 1 1 a
        |L -D 6 5 e
        |L -U 12 4 d
        |L +U 9 3 c
        |L -D 9 3 c
        |=
        |R +I 5 2 SHIP
        |R +U 6 5 AIR
        |= +U 5 5 e | 6 5 AIR
        |= +I 2 2 b | 5 2 SHIP""",
      mini = 13
    ),
    FlinkCase(
      "InnerJoinWithHasUniqueKeyCrossBatches",
      Inner,
      UniqueKey,
      """L -U 1 1 a
        |L +U 2 2 b
        |R +I 5 5 SHIP
        |L +I 4 4 c
        |L +U 4 4 d
        |R +U 22 4 SHIP
        |R +I 23 10 AIR
        |=
        |L +U 4 4 xxx
        |= +U 4 4 xxx | 22 4 SHIP
        |L +I 5 5 e
        |L -U 6 6 f
        |R +I 21 5 RAILWAY
        |R +I 1 5 TRUCK
        |L +U 6 6 f
        |L -D 2 2 b
        |R -U 5 5 SHIP
        |=
        |R -U 22 6 AIR
        |= +I 5 5 e | 21 5 RAILWAY
        |= +I 5 5 e | 1 5 TRUCK""",
      mini = 8
    ),
    FlinkCase(
      "InnerJoinWithNoUniqueKeyWithinBatch",
      Inner,
      NoKey,
      """R +I 1 1 a
        |R +I 1 2 b
        |R +I 1 2 b
        |R -D 6 6 f
        |R +I 1 1 a
        |R +I 3 3 d
        |R -U 3 3 d
        |R -U 9 9 i
        |R +U 10 10 j
        |R +U 18 18 k
        |R -D 1 2 b
        |R +U 9 9 i
        |R -D 6 6 f
        |R +I 6 6 f
        |L +I 1 1 AIR
        |L +U 1 2 SHIP
        |L -U 1 2 RAILWAY
        |L +I 1 2 RAILWAY
        |L -D 6 6 RAILWAY
        |L +I 6 6 RAILWAY
        |= +I 1 1 AIR | 1 1 a
        |= +I 1 1 AIR | 1 1 a
        |= +U 1 2 SHIP | 1 2 b
        |S!+I 1 2 RAILWAY | 1 2 b
        |S!+I 6 6 RAILWAY | 6 6 f""",
      mini = 20,
      differs = unordered
    ),
    FlinkCase(
      "InnerJoinWithNoUniqueKeyCrossBatches",
      Inner,
      NoKey,
      """L +I 1 2 b
        |R +I 1 1 AIR
        |L +I 1 2 b
        |L -D 6 6 f
        |R +U 1 2 SHIP
        |=
        |L +I 3 3 c
        |= +I 1 2 b | 1 2 SHIP
        |= +I 1 2 b | 1 2 SHIP
        |L -U 1 2 b
        |L +U 1 2 b
        |R +I 1 3 AIR
        |L -D 6 1 f
        |R -D 1 2 SHIP
        |L +I 1 2 b
        |= +I 3 3 c | 1 3 AIR
        |= -D 1 2 b | 1 2 SHIP
        |= -D 1 2 b | 1 2 SHIP
        |= -D 6 1 f | 1 1 AIR""",
      mini = 6
    ),
    FlinkCase(
      "LeftJoinWithJoinKeyContainsUniqueKey",
      LeftOuter,
      OneAKey,
      """L +I 1 1 a
        |L +U 2 1 b
        |L +I i 6 i
        |L +U 3 x3 xc
        |L -D 3 x3 yj
        |L +I 4 4 d
        |=
        |R +I X 2 AIR
        |R -U X 2 AIR
        |R +I X 1 AIR
        |R +I Y 6 RAILWAY
        |= +I i 6 i | Y 6 RAILWAY
        |= +I 4 4 d | -
        |= +I 2 1 b | X 1 AIR
        |R -U Y 6 RAILWAY
        |R +U UU 6 SHIP
        |R +I X 3 AIR
        |R +I X 2 AIR
        |R +I X 7 AIR
        |R +I X 8 AIR
        |R +I X 9 AIR
        |R +I X 10 AIR
        |R +I X 11 AIR
        |R -U X 1 AIR
        |= -U i 6 i | Y 6 RAILWAY
        |= +I i 6 i | UU 6 SHIP
        |= -U 2 1 b | X 1 AIR
        |= +I 2 1 b | -""",
      mini = 10
    ),
    FlinkCase(
      "LeftJoinWithHasUniqueKey",
      LeftOuter,
      UniqueKey,
      s"""L +I 1 1 a
         |L +I 2 2 b
         |L +I 3 10 c
         |L +U 3 10 xxx
         |L +U 5 5 e
         |L +I 6 5 f
         |L -U 1 1 a
         |L -D 6 5 e
         |L +U 6 7 f
         |L +U 6 7 g
         |= +I 3 10 xxx | -
         |= +I 1 1 a | -
         |= +I 2 2 b | -
         |= -D 1 1 a | -
         |= +I 5 5 e | -
         |$sixOfTheRight
         |= -D 2 2 b | -
         |= +I 2 2 b | 5 2 SHIP
         |= +I 6 7 g | -
         |= -U 2 2 b | 5 2 SHIP
         |= +I 2 2 b | 5 2 TRUCK""",
      mini = 4
    ),
    FlinkCase("LeftJoinHasUniqueKeyRetAndAcc", LeftOuter, UniqueKey, leftWithUpdate, mini = 2),
    FlinkCase(
      "LeftJoinJoinKeyContainsUniqueKeyRetAndAcc",
      LeftOuter,
      OneAKey,
      leftWithUpdate,
      mini = 2
    ),
    FlinkCase(
      "LeftJoinHasUniqueKeyWithoutRetract",
      LeftOuter,
      UniqueKey,
      leftWithoutRetract,
      mini = 2
    ),
    FlinkCase(
      "LeftJoinJoinKeyContainsUniqueKeyWithoutRetract",
      LeftOuter,
      OneAKey,
      leftWithoutRetract,
      mini = 2
    ),
    FlinkCase(
      "LeftJoinJoinKeyContainsUniqueKeyWithoutAcc",
      LeftOuter,
      OneAKey,
      leftWithoutAcc,
      mini = 2
    ),
    FlinkCase("LeftJoinHasUniqueKeyWithoutAcc", LeftOuter, UniqueKey, leftWithoutAcc, mini = 2),
    FlinkCase(
      "LeftJoinHasUniqueKeyWithUpdateMultipleCases",
      LeftOuter,
      UniqueKey,
      leftWithUpdates,
      mini = 4
    ),
    FlinkCase(
      "LeftJoinJoinKeyContainsUniqueKeyWithUpdateMultipleCases",
      LeftOuter,
      OneAKey,
      leftWithUpdates,
      mini = 4
    ),
    FlinkCase(
      "RightJoinWithHasUniqueKey",
      RightOuter,
      UniqueKey,
      s"""L +I 1 1 a
         |L +I 2 2 b
         |L +U 5 5 e
         |L +I 6 5 f
         |L -U 1 1 a
         |L -D 6 5 e
         |=
         |$sixOfTheRight
         |= +I - | 6 4 AIR
         |= +I 2 2 b | 5 2 SHIP
         |= +I - | 7 0 AIR
         |= +I - | 8 11 AIR
         |= -D 2 2 b | 5 2 SHIP
         |= +I 2 2 b | 5 2 TRUCK""",
      mini = 4
    ),
    FlinkCase(
      "FullJoinWithHasUniqueKey",
      FullOuter,
      UniqueKey,
      s"""L +I 1 1 a
         |L +I 2 2 b
         |L +U 5 5 e
         |L +I 6 5 f
         |L -U 1 1 a
         |L -D 6 5 e
         |= +I 1 1 a | -
         |= +I 6 5 f | -
         |= +I 5 5 e | -
         |= +I 2 2 b | -
         |$sixOfTheRight
         |= +I - | 6 4 AIR
         |= -D 2 2 b | -
         |= +I 2 2 b | 5 2 SHIP
         |= -D 1 1 a | -
         |= -D 6 5 e | -
         |= +I - | 7 0 AIR
         |= +I - | 8 11 AIR
         |= -D 2 2 b | 5 2 SHIP
         |= +I 2 2 b | 5 2 TRUCK""",
      mini = 4
    ),
    FlinkCase(
      "LeftJoinWithNoUniqueKey",
      LeftOuter,
      NoKey,
      """R +I 1 1 a
        |R +I 1 2 b
        |R +I 1 2 b
        |R -D 6 6 f
        |R +I 3 3 d
        |R -U 3 3 d
        |R -U 9 9 i
        |R +U 10 10 j
        |R -D 1 2 b
        |R +U 9 9 i
        |R -D 6 6 f
        |R +I 6 6 f
        |L +I 1 1 AIR
        |L +U 1 3 SHIP
        |L -D 6 6 RAILWAY
        |= -D 6 6 RAILWAY | -
        |= +I 1 3 SHIP | -
        |= +I 1 1 AIR | 1 1 a""",
      mini = 15
    )
  )
}
