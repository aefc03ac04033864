package io.streamjoin.model

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType._
import io.streamjoin.model.Side.{Left, Right}

class JoinTypeSuite extends AnyFunSuite {

  test("each join type lists the sides that contribute a row to every output row") {
    val sides = Map[JoinType, Seq[Side]](
      Inner -> Seq(Left, Right),
      LeftOuter -> Seq(Left),
      RightOuter -> Seq(Right),
      FullOuter -> Nil,
      LeftSemi -> Seq(Left),
      LeftAnti -> Seq(Left)
    )
    for (joinType <- JoinType.all) assert(joinType.always == sides(joinType), joinType.name)
  }
}
