package io.streamjoin.join.changelog

import io.streamjoin.model.JoinType
import io.streamjoin.model.JoinType._

import Layout.{NoKey, OneAKey, UniqueKey}

/**
 * Flink's tests of its join of many inputs: users, whose key is the join key, orders and payments
 * with separate keys, shipments without one. A row contains its key, the join key and its details.
 */
private[changelog] object FlinkMultiJoinCases {

  private val twoWay = Seq(
    FlinkCase(
      "TwoWayInnerJoin",
      Inner,
      UniqueKey,
      """U +I Gus 1 a
        |=
        |O +I o1 1 x
        |= +I Gus 1 a | o1 1 x
        |O +I o2 2 y
        |=
        |U +I Bob 2 b
        |= +I Bob 2 b | o2 2 y""",
      first = Some(OneAKey)
    ),
    FlinkCase(
      "TwoWayInnerJoinUpdating",
      Inner,
      UniqueKey,
      """U +I Gus 1 a
        |=
        |O +I o1 1 x
        |= +I Gus 1 a | o1 1 x
        |U +U Gus 1 a2
        |= +U Gus 1 a2 | o1 1 x
        |O +U o1 1 x2
        |= +U Gus 1 a2 | o1 1 x2
        |O -D o1 1 x2
        |= -D Gus 1 a2 | o1 1 x2
        |O +I o1 1 x3
        |= +I Gus 1 a2 | o1 1 x3""",
      first = Some(OneAKey)
    ),
    FlinkCase(
      "TwoWayLeftOuterJoin",
      LeftOuter,
      UniqueKey,
      """U +I Gus 1 a
        |= +I Gus 1 a | -
        |O +I o2 2 y
        |=
        |O +I o1 1 x
        |= -D Gus 1 a | -
        |= +I Gus 1 a | o1 1 x
        |O -D o1 1 x
        |= -D Gus 1 a | o1 1 x
        |= +I Gus 1 a | -
        |O +I o1 1 x
        |= -D Gus 1 a | -
        |= +I Gus 1 a | o1 1 x
        |U -D Gus 1 a
        |= -D Gus 1 a | o1 1 x
        |U +I Gus 1 a
        |= +I Gus 1 a | o1 1 x
        |U -U Gus 1 a
        |= -U Gus 1 a | o1 1 x
        |U +U Gus 1 a2
        |= +U Gus 1 a2 | o1 1 x
        |U +U Gus 1 a3
        |= +U Gus 1 a3 | o1 1 x
        |O -U o1 1 x
        |= -U Gus 1 a3 | o1 1 x
        |= +I Gus 1 a3 | -
        |O +U o1 1 x2
        |= -D Gus 1 a3 | -
        |= +U Gus 1 a3 | o1 1 x2
        |O +U o1 1 x3
        |= +U Gus 1 a3 | o1 1 x3
        |O +I o2 1 y
        |= +I Gus 1 a3 | o2 1 y
        |U -D Gus 1 a3
        |= -D Gus 1 a3 | o2 1 y
        |= -D Gus 1 a3 | o1 1 x3
        |U +I Dawid 1 c
        |= +I Dawid 1 c | o2 1 y
        |= +I Dawid 1 c | o1 1 x3""",
      first = Some(OneAKey)
    ),
    FlinkCase(
      "InnerJoinWithNoUniqueKeyOnRight",
      Inner,
      NoKey,
      """U +I Gus 1 a
        |=
        |O +I o1 1 x
        |= +I Gus 1 a | o1 1 x
        |O +I o1 1 x
        |= +I Gus 1 a | o1 1 x
        |O +I o2 1 y
        |= +I Gus 1 a | o2 1 y
        |U +I Bob 2 b
        |=
        |O +I o3 2 z
        |= +I Bob 2 b | o3 2 z
        |U -D Gus 1 a
        |= -D Gus 1 a | o1 1 x
        |= -D Gus 1 a | o1 1 x
        |= -D Gus 1 a | o2 1 y
        |U +I Gus2 1 a
        |= +I Gus2 1 a | o1 1 x
        |= +I Gus2 1 a | o1 1 x
        |= +I Gus2 1 a | o2 1 y
        |O -D o1 1 x
        |= -D Gus2 1 a | o1 1 x
        |O +U o1 1 x2
        |= +U Gus2 1 a | o1 1 x2
        |O -D o2 1 y
        |= -D Gus2 1 a | o2 1 y
        |U -D Gus2 1 a
        |= -D Gus2 1 a | o1 1 x
        |= -D Gus2 1 a | o1 1 x2"""
    )
  )

  private def conditional(name: String, condition: (Long, Long) => Boolean, text: String) =
    FlinkCase(
      name,
      Inner,
      UniqueKey,
      text,
      first = Some(OneAKey),
      condition = Some(condition)
    )

  private val conditions = Seq(
    conditional(
      "InnerJoinWithNonEquiCondition",
      _ > _,
      """U +I Gus 1 100
        |=
        |O +I o1 1 50
        |= +I Gus 1 100 | o1 1 50
        |O +I o2 1 150
        |=
        |O +I o3 1 100
        |=
        |U -D Gus 1 100
        |= -D Gus 1 100 | o1 1 50
        |U +I Gus2 1 200
        |= +I Gus2 1 200 | o1 1 50
        |= +I Gus2 1 200 | o3 1 100
        |= +I Gus2 1 200 | o2 1 150
        |O -D o1 1 50
        |= -D Gus2 1 200 | o1 1 50"""
    ),
    conditional(
      "InnerJoinWithNonEquiConditionUserUpdates",
      _ > _,
      """U +I Gus 1 100
        |=
        |U -U Gus 1 100
        |=
        |U +U Gus2 1 200
        |=
        |O +I o1 1 150
        |= +I Gus2 1 200 | o1 1 150
        |U -U Gus2 1 200
        |= -U Gus2 1 200 | o1 1 150
        |U +U Gus3 1 200
        |= +U Gus3 1 200 | o1 1 150
        |U -U Gus3 1 200
        |= -U Gus3 1 200 | o1 1 150
        |U +U Gus4 1 50
        |=
        |U -U Gus4 1 50
        |=
        |U +U Gus3 1 200
        |= +U Gus3 1 200 | o1 1 150
        |O +I o2 1 150
        |= +I Gus3 1 200 | o2 1 150
        |U -U Gus3 1 200
        |= -U Gus3 1 200 | o1 1 150
        |= -U Gus3 1 200 | o2 1 150
        |U +U Gus5 1 500
        |= +U Gus5 1 500 | o1 1 150
        |= +U Gus5 1 500 | o2 1 150"""
    ),
    conditional(
      "InnerJoinWithNonEquiConditionOrderUpdates",
      _ > _,
      """U +I Gus 1 100
        |O +I o1 1 150
        |=
        |O -U o1 1 150
        |=
        |O +U o1 1 50
        |= +U Gus 1 100 | o1 1 50
        |O -U o1 1 50
        |= -U Gus 1 100 | o1 1 50
        |O +U o1 1 100
        |=
        |U +I Bob 1 200
        |= +I Bob 1 200 | o1 1 100
        |O -U o1 1 100
        |= -U Bob 1 200 | o1 1 100
        |O +U high 1 250
        |="""
    ),
    conditional(
      "TwoWayInnerJoinMultiCondition",
      _ == _,
      """U +I a 1 d1
        |=
        |O +I b 1 dx
        |=
        |O +I c 1 d1
        |= +I a 1 d1 | c 1 d1
        |U +I d 2 d1
        |=
        |O +I e 2 d1
        |= +I d 2 d1 | e 2 d1
        |U -U a 1 d1
        |= -U a 1 d1 | c 1 d1
        |U +U a 1 d2
        |=
        |O -U c 1 d1
        |=
        |O +U c 1 d2
        |= +U a 1 d2 | c 1 d2
        |U -D d 2 d1
        |= -D d 2 d1 | e 2 d1
        |O -D c 1 d2
        |= -D a 1 d2 | c 1 d2"""
    )
  )

  private def threeWay(name: String, joinType: JoinType, by: Int, text: String) =
    FlinkCase(
      name,
      joinType,
      UniqueKey,
      text,
      first = Some(OneAKey),
      more = Seq(joinType -> UniqueKey),
      by = by
    )

  private val threeWays = Seq(
    threeWay(
      "ThreeWayInnerJoin",
      Inner,
      0,
      """U +I Gus 1 a
        |=
        |O +I o1 1 x
        |=
        |P +I p1 1 k
        |= +I Gus 1 a | o1 1 x | p1 1 k
        |U +I Bob 2 b
        |O +I o2 2 y
        |=
        |P +I p2 2 l
        |= +I Bob 2 b | o2 2 y | p2 2 l"""
    ),
    threeWay(
      "ThreeWayInnerJoinUpdating",
      Inner,
      0,
      """U +I Gus 1 a
        |O +I o1 1 x
        |P +I p1 1 k
        |= +I Gus 1 a | o1 1 x | p1 1 k
        |U +U Gus 1 a2
        |= +U Gus 1 a2 | o1 1 x | p1 1 k
        |O +U o1 1 x2
        |= +U Gus 1 a2 | o1 1 x2 | p1 1 k
        |P +U p1 1 k2
        |= +U Gus 1 a2 | o1 1 x2 | p1 1 k2
        |P -D p1 1 k2
        |= -D Gus 1 a2 | o1 1 x2 | p1 1 k2
        |P +I p1 1 k3
        |= +I Gus 1 a2 | o1 1 x2 | p1 1 k3
        |U +I Bob 2 b
        |O +I o2 2 y
        |P +I p2 2 l
        |= +I Bob 2 b | o2 2 y | p2 2 l
        |U -D Bob 2 b
        |= -D Bob 2 b | o2 2 y | p2 2 l
        |U +I Bob2 2 b2
        |= +I Bob2 2 b2 | o2 2 y | p2 2 l
        |P +I p3 2 m
        |= +I Bob2 2 b2 | o2 2 y | p3 2 m"""
    ),
    threeWay(
      "ThreeWayLeftOuterJoin",
      LeftOuter,
      1,
      """U +I Gus 1 a
        |= +I Gus 1 a | - | -
        |O +I o2 2 y
        |=
        |P +I p3 3 m
        |=
        |O +I o1 1 x
        |= -D Gus 1 a | - | -
        |= +I Gus 1 a | o1 1 x | -
        |P +I p1 1 k
        |= -D Gus 1 a | o1 1 x | -
        |= +I Gus 1 a | o1 1 x | p1 1 k
        |P -D p1 1 k
        |= -D Gus 1 a | o1 1 x | p1 1 k
        |= +I Gus 1 a | o1 1 x | -
        |O -D o1 1 x
        |= -D Gus 1 a | o1 1 x | -
        |= +I Gus 1 a | - | -
        |O +I o1 1 x
        |= -D Gus 1 a | - | -
        |= +I Gus 1 a | o1 1 x | -
        |P +I p1 1 k
        |= -D Gus 1 a | o1 1 x | -
        |= +I Gus 1 a | o1 1 x | p1 1 k
        |U -D Gus 1 a
        |= -D Gus 1 a | o1 1 x | p1 1 k
        |U +I Gus 1 a
        |= +I Gus 1 a | o1 1 x | p1 1 k
        |U -U Gus 1 a
        |= -U Gus 1 a | o1 1 x | p1 1 k
        |U +U Gus 1 a2
        |= +U Gus 1 a2 | o1 1 x | p1 1 k
        |O -U o1 1 x
        |= -U Gus 1 a2 | o1 1 x | p1 1 k
        |= +I Gus 1 a2 | - | -
        |O +U o1 1 x2
        |= -D Gus 1 a2 | - | -
        |= +U Gus 1 a2 | o1 1 x2 | p1 1 k
        |P -U p1 1 k
        |= -U Gus 1 a2 | o1 1 x2 | p1 1 k
        |= +I Gus 1 a2 | o1 1 x2 | -
        |P +U p1 1 k2
        |= -D Gus 1 a2 | o1 1 x2 | -
        |= +U Gus 1 a2 | o1 1 x2 | p1 1 k2
        |P +I p2 1 l
        |= +I Gus 1 a2 | o1 1 x2 | p2 1 l
        |U -D Gus 1 a2
        |= -D Gus 1 a2 | o1 1 x2 | p2 1 l
        |= -D Gus 1 a2 | o1 1 x2 | p1 1 k2
        |U +I Dawid 1 c
        |= +I Dawid 1 c | o1 1 x2 | p2 1 l
        |= +I Dawid 1 c | o1 1 x2 | p1 1 k2
        |P +I p3 2 m
        |=
        |P +I p4 2 n
        |=
        |U +I Bob 2 b
        |= +I Bob 2 b | o2 2 y | p4 2 n
        |= +I Bob 2 b | o2 2 y | p3 2 m
        |O -D o2 2 y
        |= -D Bob 2 b | o2 2 y | p4 2 n
        |= -D Bob 2 b | o2 2 y | p3 2 m
        |= +I Bob 2 b | - | -
        |O +I o2 2 y
        |= -D Bob 2 b | - | -
        |= +I Bob 2 b | o2 2 y | p4 2 n
        |= +I Bob 2 b | o2 2 y | p3 2 m
        |O +I o3 2 z
        |= +I Bob 2 b | o3 2 z | p4 2 n
        |= +I Bob 2 b | o3 2 z | p3 2 m
        |P +U p4 2 n2
        |= +U Bob 2 b | o2 2 y | p4 2 n2
        |= +U Bob 2 b | o3 2 z | p4 2 n2
        |U +U Bob 2 b2
        |= +U Bob 2 b2 | o2 2 y | p4 2 n2
        |= +U Bob 2 b2 | o2 2 y | p3 2 m
        |= +U Bob 2 b2 | o3 2 z | p4 2 n2
        |= +U Bob 2 b2 | o3 2 z | p3 2 m
        |U -D Bob 2 b
        |= -D Bob 2 b | o2 2 y | p4 2 n2
        |= -D Bob 2 b | o2 2 y | p3 2 m
        |= -D Bob 2 b | o3 2 z | p4 2 n2
        |= -D Bob 2 b | o3 2 z | p3 2 m"""
    ),
    threeWay(
      "ThreeWayLeftOuterJoinCustomCondition",
      LeftOuter,
      0,
      """P +I p1 1 k
        |=
        |O +I o1 1 x
        |=
        |U +I Gus 1 a
        |= +I Gus 1 a | o1 1 x | p1 1 k
        |O -U o1 1 x
        |= -U Gus 1 a | o1 1 x | p1 1 k
        |= +I Gus 1 a | - | p1 1 k
        |O +U o1 1 x2
        |= -D Gus 1 a | - | p1 1 k
        |= +U Gus 1 a | o1 1 x2 | p1 1 k"""
    )
  )

  private def fourWay(
      name: String,
      types: Seq[JoinType],
      condition: Option[(Long, Long) => Boolean],
      text: String
  ) = FlinkCase(
    name,
    types.head,
    UniqueKey,
    text,
    first = Some(OneAKey),
    more = types.tail.zip(Seq(UniqueKey, NoKey)),
    condition = condition
  )

  private val fourWays = Seq(
    fourWay(
      "FourWayMixedInnerJoin",
      Seq(Inner, Inner, Inner),
      None,
      """U +I u1 1 a
        |=
        |O +I o1 1 x
        |=
        |P +I p1 1 k
        |=
        |S +I s1 1 r
        |= +I u1 1 a | o1 1 x | p1 1 k | s1 1 r
        |U +I u2 2 b
        |O +I o2 2 y
        |P +I p2 2 l
        |=
        |S +I s2 2 q
        |= +I u2 2 b | o2 2 y | p2 2 l | s2 2 q
        |O +I oe 1 z
        |= +I u1 1 a | oe 1 z | p1 1 k | s1 1 r
        |S +I sa 1 t
        |= +I u1 1 a | o1 1 x | p1 1 k | sa 1 t
        |= +I u1 1 a | oe 1 z | p1 1 k | sa 1 t"""
    ),
    fourWay(
      "FourWayMixedInnerJoinUpdating",
      Seq(Inner, Inner, Inner),
      None,
      """U +I u1 1 a
        |O +I o1 1 x
        |P +I p1 1 k
        |S +I s1 1 r
        |= +I u1 1 a | o1 1 x | p1 1 k | s1 1 r
        |U -D u1 1 a
        |= -D u1 1 a | o1 1 x | p1 1 k | s1 1 r
        |U +I u2 1 b
        |= +I u2 1 b | o1 1 x | p1 1 k | s1 1 r
        |O -D o1 1 x
        |= -D u2 1 b | o1 1 x | p1 1 k | s1 1 r
        |O +I o2 1 y
        |= +I u2 1 b | o2 1 y | p1 1 k | s1 1 r
        |P -D p1 1 k
        |= -D u2 1 b | o2 1 y | p1 1 k | s1 1 r
        |P +I p2 1 l
        |= +I u2 1 b | o2 1 y | p2 1 l | s1 1 r
        |S -D s1 1 r
        |= -D u2 1 b | o2 1 y | p2 1 l | s1 1 r
        |S +I s2 1 q
        |= +I u2 1 b | o2 1 y | p2 1 l | s2 1 q
        |U -U u2 1 b
        |= -U u2 1 b | o2 1 y | p2 1 l | s2 1 q
        |U +U u3 1 c
        |= +U u3 1 c | o2 1 y | p2 1 l | s2 1 q
        |O -U o2 1 y
        |= -U u3 1 c | o2 1 y | p2 1 l | s2 1 q
        |O +U o3 1 z
        |= +U u3 1 c | o3 1 z | p2 1 l | s2 1 q
        |P -U p2 1 l
        |= -U u3 1 c | o3 1 z | p2 1 l | s2 1 q
        |P +U p3 1 m
        |= +U u3 1 c | o3 1 z | p3 1 m | s2 1 q
        |S -D s2 1 q
        |= -D u3 1 c | o3 1 z | p3 1 m | s2 1 q
        |S +I s3 1 t
        |= +I u3 1 c | o3 1 z | p3 1 m | s3 1 t
        |S +I s4 1 w
        |= +I u3 1 c | o3 1 z | p3 1 m | s4 1 w
        |P -D p3 1 m
        |= -D u3 1 c | o3 1 z | p3 1 m | s3 1 t
        |= -D u3 1 c | o3 1 z | p3 1 m | s4 1 w
        |P +I p4 1 n
        |= +I u3 1 c | o3 1 z | p4 1 n | s3 1 t
        |= +I u3 1 c | o3 1 z | p4 1 n | s4 1 w"""
    ),
    fourWay(
      "FourWayMixedJoin",
      Seq(LeftOuter, Inner, LeftOuter),
      Some(_ > _),
      """U +I u1 1 100
        |=
        |O +I o99 99 x
        |=
        |P +I p99 99 k
        |=
        |S +I s99 99 50
        |=
        |O +I o1 1 x
        |=
        |P +I p1 1 k
        |= +I u1 1 100 | o1 1 x | p1 1 k | -
        |S +I s1 1 50
        |= -D u1 1 100 | o1 1 x | p1 1 k | -
        |= +I u1 1 100 | o1 1 x | p1 1 k | s1 1 50
        |S +I s2 1 150
        |=
        |S -D s1 1 50
        |= -D u1 1 100 | o1 1 x | p1 1 k | s1 1 50
        |= +I u1 1 100 | o1 1 x | p1 1 k | -
        |P -D p1 1 k
        |= -D u1 1 100 | o1 1 x | p1 1 k | -
        |O -D o1 1 x
        |=
        |O +I o2 1 y
        |=
        |P +I p2 1 l
        |= +I u1 1 100 | o2 1 y | p2 1 l | -
        |S +I s3 1 75
        |= -D u1 1 100 | o2 1 y | p2 1 l | -
        |= +I u1 1 100 | o2 1 y | p2 1 l | s3 1 75
        |U -D u1 1 100
        |= -D u1 1 100 | o2 1 y | p2 1 l | s3 1 75
        |U +I u2 2 200
        |=
        |O +I o3 2 z
        |=
        |P +I p3 2 m
        |= +I u2 2 200 | o3 2 z | p3 2 m | -
        |S +I low 2 50
        |= -D u2 2 200 | o3 2 z | p3 2 m | -
        |= +I u2 2 200 | o3 2 z | p3 2 m | low 2 50
        |S +I high 2 250
        |=
        |U -U u2 2 200
        |= -U u2 2 200 | o3 2 z | p3 2 m | low 2 50
        |U +U u3 2 300
        |= +U u3 2 300 | o3 2 z | p3 2 m | low 2 50
        |= +U u3 2 300 | o3 2 z | p3 2 m | high 2 250
        |O -U o3 2 z
        |= -U u3 2 300 | o3 2 z | p3 2 m | low 2 50
        |= -U u3 2 300 | o3 2 z | p3 2 m | high 2 250
        |= +I u3 2 300 | - | p3 2 m | low 2 50
        |= +I u3 2 300 | - | p3 2 m | high 2 250
        |O +U o4 2 z2
        |= -D u3 2 300 | - | p3 2 m | low 2 50
        |= -D u3 2 300 | - | p3 2 m | high 2 250
        |= +U u3 2 300 | o4 2 z2 | p3 2 m | low 2 50
        |= +U u3 2 300 | o4 2 z2 | p3 2 m | high 2 250
        |P -U p3 2 m
        |= -U u3 2 300 | o4 2 z2 | p3 2 m | low 2 50
        |= -U u3 2 300 | o4 2 z2 | p3 2 m | high 2 250
        |P +U p4 2 m2
        |= +U u3 2 300 | o4 2 z2 | p4 2 m2 | low 2 50
        |= +U u3 2 300 | o4 2 z2 | p4 2 m2 | high 2 250
        |S -D low 2 50
        |= -D u3 2 300 | o4 2 z2 | p4 2 m2 | low 2 50
        |S +I low2 2 350
        |=
        |S +I other 2 100
        |= +I u3 2 300 | o4 2 z2 | p4 2 m2 | other 2 100
        |S -D high 2 250
        |= -D u3 2 300 | o4 2 z2 | p4 2 m2 | high 2 250
        |S +I high2 2 350
        |=
        |S -D other 2 100
        |= -D u3 2 300 | o4 2 z2 | p4 2 m2 | other 2 100
        |= +I u3 2 300 | o4 2 z2 | p4 2 m2 | -
        |S +I other2 2 50
        |= -D u3 2 300 | o4 2 z2 | p4 2 m2 | -
        |= +I u3 2 300 | o4 2 z2 | p4 2 m2 | other2 2 50
        |U -U u3 2 300
        |= -U u3 2 300 | o4 2 z2 | p4 2 m2 | other2 2 50
        |U +U u4 2 400
        |= +U u4 2 400 | o4 2 z2 | p4 2 m2 | other2 2 50
        |= +U u4 2 400 | o4 2 z2 | p4 2 m2 | high2 2 350
        |= +U u4 2 400 | o4 2 z2 | p4 2 m2 | low2 2 350
        |U +I u1 j1 100
        |=
        |O +I o1 j1 x
        |=
        |P +I p1 j1 k
        |= +I u1 j1 100 | o1 j1 x | p1 j1 k | -
        |U -D u1 j1 100
        |= -D u1 j1 100 | o1 j1 x | p1 j1 k | -
        |U +I u1 j2 100
        |=
        |O +I o2 j2 y
        |=
        |P +I p2 j2 l
        |= +I u1 j2 100 | o2 j2 y | p2 j2 l | -
        |O -U o2 j2 y
        |= -U u1 j2 100 | o2 j2 y | p2 j2 l | -
        |= +I u1 j2 100 | - | p2 j2 l | -
        |O +U o2 j3 y2
        |=
        |P -U p2 j2 l
        |= -U u1 j2 100 | - | p2 j2 l | -
        |P +U p2 j4 l2
        |=
        |U +I u3 3 100
        |=
        |O +I o3 3 z
        |=
        |P +I p3 3 m
        |= +I u3 3 100 | o3 3 z | p3 3 m | -
        |S +I s1 3 50
        |= -D u3 3 100 | o3 3 z | p3 3 m | -
        |= +I u3 3 100 | o3 3 z | p3 3 m | s1 3 50
        |S +I s2 3 60
        |= +I u3 3 100 | o3 3 z | p3 3 m | s2 3 60
        |S -D s1 3 50
        |= -D u3 3 100 | o3 3 z | p3 3 m | s1 3 50
        |S -D s2 3 60
        |= -D u3 3 100 | o3 3 z | p3 3 m | s2 3 60
        |= +I u3 3 100 | o3 3 z | p3 3 m | -
        |S +I s3 3 150
        |=
        |U -U u3 3 100
        |= -U u3 3 100 | o3 3 z | p3 3 m | -
        |U +U u3 3 200
        |= +U u3 3 200 | o3 3 z | p3 3 m | s3 3 150"""
    )
  )

  val all: Seq[FlinkCase] = twoWay ++ conditions ++ threeWays ++ fourWays
}
