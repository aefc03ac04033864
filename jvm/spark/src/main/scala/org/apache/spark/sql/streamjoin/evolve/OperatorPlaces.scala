package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.logical.plan.analysis.InputSource

import io.streamjoin.model.{JoinType, Side}

/**
 * The places in the checkpoint of the sources of each operator, by input; -1: a new source.
 *
 * A query may read a source twice. Then its operators tell which of the two is meant: their sources
 * are next to each other.
 *
 * {{{
 *   sources                 a   b   c   a
 *   join 0, of a and b      0   1
 *   join 1, of c and a              2   3
 * }}}
 */
private[evolve] final class OperatorPlaces(
    sources: SourceMap,
    changed: Seq[ChangedOperator],
    stored: Seq[StoredOperator]
) {
  private val ofChanged = {
    val sorted = changed.sortBy(_.id)
    sorted.map(_.id).zip(OperatorPlaces.of(sorted.map(_.inputs), sources.now)).toMap
  }
  private val ofStored = {
    val sorted = stored.sortBy(_.id)
    sorted.map(_.id).zip(OperatorPlaces.of(sorted.map(_.inputs), sources.before)).toMap
  }

  def now(operator: ChangedOperator): Seq[Seq[Int]] =
    ofChanged(operator.id).map(_.map(sources.placeOf))

  def before(operator: StoredOperator): Seq[Seq[Int]] = ofStored(operator.id)

  /** The places of the sources whose columns the stored rows of an input may have. */
  def columnsBefore(operator: StoredOperator, input: Int): Seq[Int] =
    OperatorPlaces.withColumns(
      before(operator).lift(input).getOrElse(Nil),
      stored.map(other => (before(other), other.join.description.joinType))
    )
}

private[evolve] object OperatorPlaces {

  /** The places of an input, from which the operators of its plan take theirs one after the other. */
  private final class Region(start: Int, end: Int) {
    private var next = start

    def take(wanted: Seq[InputSource], all: Seq[InputSource]): Option[Int] = {
      val found = all.slice(0, end).indexOfSlice(wanted, next)
      if (found >= 0) next = found + wanted.length
      Option.when(found >= 0)(found)
    }
  }

  /**
   * @param operators the sources of each input of the operators. Each is followed by those below it
   * @param all the sources of the query
   * @return their places among all
   */
  def of(operators: Seq[Seq[Seq[InputSource]]], all: Seq[InputSource]): Seq[Seq[Seq[Int]]] = {
    var above = List(Seq(new Region(0, all.length)))
    for (inputs <- operators) yield {
      val wanted = inputs.flatten
      def place(regions: Seq[Region]) = regions.iterator.flatMap(_.take(wanted, all)).nextOption()
      val found = above.iterator.zipWithIndex.flatMap { case (r, i) => place(r).map(_ -> i) }
      found.nextOption().fold(inputs.map(_.map(all.indexOf(_)))) { case (start, i) =>
        val ends = inputs.scanLeft(start)(_ + _.length)
        val regions = ends.zip(ends.tail).map { case (from, to) => new Region(from, to) }
        above = regions :: above.drop(i)
        ends.zip(ends.tail).map { case (from, to) => from until to }
      }
    }
  }

  /**
   * @param input the places of an input
   * @param joins the places of the inputs of each join, and its type
   * @return those that are not on the right of a LEFT SEMI or LEFT ANTI join below
   */
  def withColumns(input: Seq[Int], joins: Seq[(Seq[Seq[Int]], JoinType)]): Seq[Int] =
    input.diff(joins.collect {
      case (inputs, how)
          if !how.emits(Side.Right) && inputs.flatten.forall(input.contains) => inputs.last
    }.flatten)
}
