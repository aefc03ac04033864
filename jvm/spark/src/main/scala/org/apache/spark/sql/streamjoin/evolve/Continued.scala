package org.apache.spark.sql.streamjoin.evolve

import io.streamjoin.model.{BySide, Side}

/**
 * A join of the changed query that continues with the rows of a stored one.
 *
 * @param from for each side, that of the stored join
 */
private[evolve] final case class Continued(before: StoredOperator, from: BySide[Side])

private[evolve] object Continued {

  private val Straight = BySide[Side](Side.Left, Side.Right)
  private val Exchanged = BySide[Side](Side.Right, Side.Left)

  /**
   * The stored operator with which each operator of the changed query continues: one of the same
   * kind whose inputs read the same sources. Among several, the more alike one.
   */
  def of(
      now: Seq[ChangedOperator],
      before: Seq[StoredOperator],
      places: OperatorPlaces
  ): Map[Long, Continued] = {
    val candidates = for {
      n <- now
      b <- before
      from <- Seq(Straight, Exchanged)
      likeness <- likenessOf(n, b, from, places)
    } yield (n, Continued(b, from), likeness)
    val best = candidates.sortBy { case (n, c, likeness) =>
      (-likeness, c.from == Exchanged, math.abs(n.id - c.before.id))
    }
    best.foldLeft(Map.empty[Long, Continued]) { case (chosen, (n, c, _)) =>
      val isTaken = chosen.contains(n.id) || chosen.values.exists(_.before.id == c.before.id)
      if (isTaken) chosen else chosen + (n.id -> c)
    }
  }

  private def likenessOf(
      now: ChangedOperator,
      before: StoredOperator,
      from: BySide[Side],
      places: OperatorPlaces
  ): Option[Int] = {
    val isKind = now.exec.shortName == before.join.metadata.operatorInfo.operatorName &&
      now.layout.forall { l =>
        val (a, b) = (l.description.kind, before.join.description.kind)
        a.getClass == b.getClass
      }
    val mayExchange = from == Straight || now.inputs.length == 2 && now.layout.nonEmpty
    val order = if (now.inputs.length == 1) Seq(0) else Side.both.map(from(_).index)
    val pairs = places.now(now).map(_.toSet)
      .zip(order.flatMap(places.before(before).lift).map(_.toSet))
    val areKnown = pairs.length == now.inputs.length
    Option.when(
      isKind && mayExchange && areKnown && pairs.forall { case (n, b) =>
        // an operator of one input has no sources on its right
        n.isEmpty && b.isEmpty || (n & b).nonEmpty
      }
    ) {
      val sameKeys = now.layout.exists(_.description.keys == before.join.description.keys)
      2 * pairs.count { case (n, b) => n == b } + (if (sameKeys) 1 else 0)
    }
  }
}
